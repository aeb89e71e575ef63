export { parametersOf as simulatorSettingsFromUrl, simulatedCarrierFromUrl } from './simulated-carrier.ts'
export { simulatedCarrier, type SimulatedCarrierSettings } from './simulated-carrier.ts'
