export { smppCarrierFromUrl, smppSettingsFromUrl, smppSettingsOf, type SmppAddress } from './from-url.ts'
export { smppParameters, tlsParameters, type SmppParameter } from './parameters.ts'
export type { SmppSettings } from './settings.ts'
export { smppCarrier, type Sharing } from './smpp-carrier.ts'
