export { accountAt, type ProviderAccount } from './account.ts'
export { readAnswer, type AnswerMeaning, type HttpAnswer } from './answers/read-answer.ts'
export type { CallbackRequest } from './callbacks/callback-request.ts'
export {
  readCallback,
  type HttpInboundMessage,
  type HttpReceipt,
  type ReadCallback,
  type UnreadEntry,
} from './callbacks/read-callback.ts'
export { unreadRecords } from './callbacks/unread-records.ts'
export { isVerifiable, verifyCallback, type CallbackRefusal } from './callbacks/verify-callback.ts'
export { httpCarrier } from './carrier/http-carrier.ts'
export { tryMessage, type TriedMessage } from './carrier/try-message.ts'
export { ownIdOf, ownIdTextOf } from './carrier/own-ids.ts'
export type { Provider } from './description/provider.ts'
export type { HttpDescription } from './description/schema.ts'
export { httpParameters } from './parameters.ts'
export { enteredSecrets, needsPath, providerSetup, type EnteredSecret, type ProviderSetup } from './provider-setup.ts'
export { isShipped, providerNames, shippedProvider, type ProviderName } from './providers.ts'
export { httpSettingsOf, type HttpFields } from './read-settings.ts'
export { buildRequest, type HttpRequest, type HttpSubmission } from './requests/build-request.ts'
export { accountOf, callbacksOf, callbackUrl, httpDefaults, originOfAccount, type HttpSettings } from './settings.ts'
