export { smppCarrierFromUrl } from './from-url.ts'
