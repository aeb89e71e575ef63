export { accountAt, type ProviderAccount } from './account.ts'
export { readAnswer, type AnswerMeaning, type HttpAnswer } from './answers/read-answer.ts'
export type { Price } from './answers/read-price.ts'
export type { CallbackRequest } from './callbacks/callback-request.ts'
export {
  readCallback,
  type HttpInboundMessage,
  type HttpReceipt,
  type ReadCallback,
  type UnreadEntry,
} from './callbacks/read-callback.ts'
export { isVerifiable, verifyCallback, type CallbackRefusal } from './callbacks/verify-callback.ts'
export { httpCarrier } from './carrier/http-carrier.ts'
export { messageOfOwnId } from './carrier/own-ids.ts'
export type { Provider } from './description/provider.ts'
export type { HttpDescription } from './description/schema.ts'
export { isShipped, providerNames, shippedProvider, type ProviderName } from './providers.ts'
export { buildRequest, type HttpRequest, type HttpSubmission } from './requests/build-request.ts'
export { accountOf, callbackUrl, httpDefaults, type HttpSettings } from './settings.ts'
