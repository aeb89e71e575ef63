export { parametersOf as simulatorSettingsFromUrl, simulatedCarrierFromUrl } from './from-url.ts'
export { simulatedCarrier, type SimulatedCarrierSettings } from './simulated-carrier.ts'
