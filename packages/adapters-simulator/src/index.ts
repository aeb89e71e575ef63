export { simulatedCarrier, simulatorSettingsFromUrl, type SimulatedCarrierSettings } from './simulated-carrier.ts'
