export { carriersFrom } from './carriers.ts'
export { measureDispatching } from './dispatch-metrics.ts'
export { startDispatching, type Dispatching, type DispatchSettings } from './dispatch.ts'
export { dispatcherSettings, dispatchVariables, exchangeSettings } from './variables.ts'
