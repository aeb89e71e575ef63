export { smppDefaults, type NumberForm, type SmppSettings, type TlsSettings, type TonNpi } from './settings.ts'
export { smppCarrier, type SmppCarrier, type SmppCarrierStatus } from './smpp-carrier.ts'
