export { carriersFor } from './configured-carriers.ts'
export { dispatchFor } from './dispatch-for.ts'
export { startDispatching, type Dispatching, type DispatchSettings } from './dispatch.ts'
export { dispatchVariables } from './variables.ts'
