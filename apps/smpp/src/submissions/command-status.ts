import type { Refusal } from '@gateway/core/messages'
import { COMMAND_STATUS, type CommandStatusName } from '@gateway/smpp'

/** command_status of a data_coding that is not offered (SMPP 5.0, 4.7.6). Clients below version 3.4 do not know it. */
const invalidDataCoding = 0x104

/** command_status of each refusal of a recipient, by the table of docs/interfaces/smpp.md. All of them are final. */
export const REFUSAL_STATUS = {
  'account-locked': COMMAND_STATUS.ESME_RSUBMITFAIL,
  'no-message': COMMAND_STATUS.ESME_RINVMSGLEN,
  'too-long': COMMAND_STATUS.ESME_RINVMSGLEN,
  'no-number': COMMAND_STATUS.ESME_RINVDSTADR,
  'invalid-number': COMMAND_STATUS.ESME_RINVDSTADR,
  blacklisted: COMMAND_STATUS.ESME_RINVDSTADR,
  'trial-to-self': COMMAND_STATUS.ESME_RINVDSTADR,
  'opted-out': COMMAND_STATUS.ESME_RINVDSTADR,
  'do-not-contact': COMMAND_STATUS.ESME_RINVDSTADR,
  // Not RSYSERR, which clients repeat for ever.
  'insufficient-credits': COMMAND_STATUS.ESME_RSUBMITFAIL,
} as const satisfies Record<Refusal, number>

/** Reason why a whole submission is refused before or by core. */
export type SubmissionRefusal =
  | 'sender'
  | 'message-type'
  | 'header-malformed'
  | 'header-not-offered'
  | 'sar-malformed'
  | 'two-texts'
  | 'binary'
  | 'data-coding'
  | 'outside-alphabet'
  | 'priority'
  | 'time'
  | 'replace'
  | 'default-message'
  | 'distribution-list'
  | 'no-destinations'
  | 'parts-to-several'
  | 'part-size'
  | 'over-limit'
  | 'queue-full'
  | 'unavailable'

const SUBMISSION_STATUS = {
  sender: COMMAND_STATUS.ESME_RINVSRCADR,
  'message-type': COMMAND_STATUS.ESME_RINVESMCLASS,
  'header-malformed': COMMAND_STATUS.ESME_RINVESMCLASS,
  'header-not-offered': COMMAND_STATUS.ESME_RSUBMITFAIL,
  'sar-malformed': COMMAND_STATUS.ESME_RINVOPTPARAMVAL,
  'two-texts': COMMAND_STATUS.ESME_ROPTPARNOTALLWD,
  binary: COMMAND_STATUS.ESME_RSUBMITFAIL,
  'data-coding': invalidDataCoding,
  'outside-alphabet': invalidDataCoding,
  priority: COMMAND_STATUS.ESME_RINVPRTFLG,
  // Also for a wrong schedule_delivery_time, because Jasmin repeats a message that is answered RINVSCHED.
  time: COMMAND_STATUS.ESME_RINVEXPIRY,
  replace: COMMAND_STATUS.ESME_RINVSUBREP,
  'default-message': COMMAND_STATUS.ESME_RINVDFTMSGID,
  'distribution-list': COMMAND_STATUS.ESME_RINVDLNAME,
  'no-destinations': COMMAND_STATUS.ESME_RINVNUMDESTS,
  'parts-to-several': COMMAND_STATUS.ESME_RSUBMITFAIL,
  'part-size': COMMAND_STATUS.ESME_RINVMSGLEN,
  'over-limit': COMMAND_STATUS.ESME_RTHROTTLED,
  'queue-full': COMMAND_STATUS.ESME_RMSGQFUL,
  unavailable: COMMAND_STATUS.ESME_RSYSERR,
} as const satisfies Record<SubmissionRefusal, number>

/** First interface_version with the status ESME_RINVDCS. */
const dataCodingStatusSince = 0x34

/** Returns the command_status of a refused submission for a client of this interface_version. */
export function submissionStatus(refusal: SubmissionRefusal, version: number): number {
  const status = SUBMISSION_STATUS[refusal]
  return status === invalidDataCoding && version < dataCodingStatusSince ? COMMAND_STATUS.ESME_RSUBMITFAIL : status
}

const NAMES = new Map<number, string>([
  ...(Object.entries(COMMAND_STATUS) as [CommandStatusName, number][]).map(
    ([name, status]) => [status, name.replace('ESME_', '')] as const,
  ),
  [invalidDataCoding, 'RINVDCS'],
])

/** Returns the name of a command_status without `ESME_`, as documents and metrics show it, such as `RTHROTTLED`. */
export const statusName = (status: number): string => NAMES.get(status) ?? `0x${status.toString(16)}`
