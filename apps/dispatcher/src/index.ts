export { carriersFor } from './configured-carriers.ts'
export { dispatchFor, dispatchVariables } from './dispatch-for.ts'
export { startDispatching, type Dispatching, type DispatchSettings } from './dispatch.ts'
