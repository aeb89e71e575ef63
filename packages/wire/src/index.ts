export { auditActionOf, auditRecord, auditWords, type AuditStyle, type AuditWords } from './audit-words.ts'
export { carrierJson } from './carrier-json.ts'
export { csvLine, unguarded, type Cell } from './csv.ts'
export { foundFor } from './found-for.ts'
export { decodeWindows1252, percentDecode, trimWhiteSpace } from './decode-text.ts'
export {
  interfaceOf,
  notFoundElsewhere,
  refusalElsewhere,
  refusalsElsewhere,
  XML_ROOT,
  type InterfaceName,
} from './interface-refusals.ts'
export { isRestPath, noSuchRestPath, restCodeOf, restContentType, restEnvelope } from './rest-envelope.ts'
export { webhookBody } from './webhook-body.ts'
export {
  NEXT_TRY_REASON,
  NEXT_TRY_TEXT,
  PAUSED_FOR,
  PAUSED_TEXT,
  PUSH_FAILURE,
  PUSH_RESULT,
  PUSH_RESULT_TEXT,
  REPLAY_STATE,
  REPLAY_TEXT,
  URL_RULE,
  WEBHOOK_STATE,
} from './webhook-words.ts'
export { DELETION, RECIPIENT_ERROR, STATUS_ERROR_CODE, TRANSFER_ERROR } from './words.ts'
export { readUtcOffset, receiptExample, smppSheet, utcOffset, type SheetRow } from './smpp-sheet.ts'
export { optionWords, SEND_OPTION } from './send-options.ts'
export { incidentText, labelFields, statusFields, statusWords } from './words.ts'
