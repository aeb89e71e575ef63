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
export { verifyCallback, type CallbackRefusal } from './callbacks/verify-callback.ts'
export { descriptionSchema, type HttpDescription } from './description/schema.ts'
export { isUsable, readDescription, type DescriptionProblems, type Provider } from './description/read-description.ts'
export { isShipped, providerNames, shippedProvider, type ProviderName } from './providers.ts'

export { buildRequest, type HttpRequest, type HttpSubmission } from './requests/build-request.ts'
export {
  accountOf,
  callbackUrl,
  httpDefaults,
  httpParameters,
  httpSettingsOf,
  type HttpFields,
  type HttpSettings,
} from './settings.ts'
