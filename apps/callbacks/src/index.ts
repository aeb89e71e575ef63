export { followCallbackCarriers, type CallbackCarrier, type CallbackCarriers } from './callback-carriers.ts'
export { callbacksNotFound, callbacksRouter, type CallbacksSettings } from './router.ts'
export { RefusedCallbacks, type RefusedCallback } from './refused-callbacks.ts'
export type { CallbackStore } from './store-callback.ts'
