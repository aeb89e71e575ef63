export { foundFor } from './found-for.ts'
export { trimWhiteSpace } from './trim.ts'
export { DELETION, RECIPIENT_ERROR, statusWords, TRANSFER_ERROR } from './words.ts'
export { decodeWindows1252, windows1252Character } from './windows-1252.ts'
