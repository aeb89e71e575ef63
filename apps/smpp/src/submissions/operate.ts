import type { Gateway } from '@gateway/core'
import {
  AnswerDeadline,
  OUTCOME,
  parseMessageId,
  type MessageStatus,
  type Refusal,
  type SendResults,
} from '@gateway/core/messages'
import type { SmppSession } from '@gateway/core/smpp-customers'
import type { Clock } from '@gateway/core/time'
import type { Log } from '@gateway/server'
import { COMMAND_STATUS, MESSAGE_STATE, noTlvs, type CancelSm, type Pdu, type QuerySm } from '@gateway/smpp'
import type { CustomerBind, CustomerSession } from '../binds/customer-bind.ts'
import { refuseOperation, type Operation } from '../session/responses.ts'
import { answerInTime } from './answer-in-time.ts'
import { REFUSAL_STATUS, submissionStatus, type SubmissionRefusal } from './command-status.ts'
import { readSubmission, type ReadSubmission, type RefusedSubmission, type SubmissionPdu } from './read-submission.ts'
import { messageState } from './message-state.ts'
import { smppTime } from './read-times.ts'

export interface OperateSettings {
  readonly commands: Pick<Gateway['commands'], 'submitOverSmpp' | 'submitPart' | 'deleteScheduled'>
  readonly queries: Pick<Gateway['queries'], 'smppSession' | 'queryStatus'>
  readonly clock: Clock
  readonly log: Log
  /** Counts a text with an octet outside its alphabet. The position is logged, never the text (P-15). */
  readonly countStray: (bind: CustomerBind, refused: NonNullable<RefusedSubmission['outside']>) => void
  /** Called for a submission that is answered RSYSERR because it missed its deadline. */
  readonly late: () => void
  readonly answerMilliseconds?: number
}

/** Executes an operation and returns its response. Rejects if the outcome of a query or cancellation is unknown. */
export async function operate(
  settings: OperateSettings,
  session: CustomerSession,
  bind: CustomerBind,
  pdu: Operation,
): Promise<Pdu> {
  const current = await settings.queries.smppSession(bind.credential.id)
  if (current === undefined || pdu.command === 'replace_sm') return refuseOperation(pdu, COMMAND_STATUS.ESME_RSYSERR)
  if (pdu.command === 'query_sm') return query(settings, current, pdu)
  if (pdu.command === 'cancel_sm') return cancel(settings, current, pdu)
  bind.submissions++
  const submission = readSubmission(pdu, current.credential, session.address, settings.clock.now())
  if ('refusal' in submission) {
    if (submission.outside !== undefined) settings.countStray(bind, submission.outside)
    return refuseOperation(pdu, submissionStatus(submission.refusal, session.version))
  }
  const deadline = new AnswerDeadline()
  const result = await answerInTime(
    deadline,
    submit(settings, current, submission, deadline),
    (err) => settings.log.warn({ err }, 'a submission failed after it had been answered RSYSERR'),
    settings.answerMilliseconds,
  )
  if (result === 'late') {
    settings.late()
    return refuseOperation(pdu, COMMAND_STATUS.ESME_RSYSERR)
  }
  return typeof result === 'object'
    ? accepted(pdu, result.recipients, submission)
    : refuseOperation(pdu, statusOf(result, session.version))
}

interface SubmitResult {
  readonly recipients: readonly { readonly id?: number; readonly refused?: Refusal }[]
}

type Refused = SubmissionRefusal | Refusal

/** Submits a whole text, or stores a part. Resolves to the ids and refusals of the recipients in request order. */
async function submit(
  { commands, log }: OperateSettings,
  session: SmppSession,
  { content, sender, destinations, scheduled, options, reference }: ReadSubmission,
  deadline: AnswerDeadline,
): Promise<SubmitResult | Refused> {
  if ('text' in content) {
    const recipients = destinations.map(({ number }) => number)
    const request = { text: content.text, recipients, scheduled, sender, options, reference }
    const result = await commands.submitOverSmpp(session, request, deadline)
    return typeof result === 'object' && !('overLimitSeconds' in result)
      ? { recipients: (result satisfies SendResults).flat() }
      : refusalOf(result)
  }
  const { part, coded } = content
  const { is16Bit, reference: number, of: total, number: place } = part
  const result = await commands.submitPart(
    session,
    {
      ...{ number: destinations[0]?.number ?? '', sender, total, part: place, coded, scheduled, options },
      reference: `${is16Bit ? 16 : 8}:${number}`,
      messageReference: reference,
    },
    deadline,
  )
  if (typeof result !== 'object' || 'overLimitSeconds' in result) return refusalOf(result)
  result.joining.catch((err: unknown) => log.warn({ err }, 'a text was not joined; it will be joined later'))
  return { recipients: [{ id: result.id }] }
}

/** Refusals of core that concern the whole submission. */
const CORE_REFUSALS = {
  overloaded: 'queue-full',
  'too-many-parts': 'queue-full',
  'another-part': 'queue-full',
  'invalid-sender': 'sender',
} as const satisfies Record<string, SubmissionRefusal>

function refusalOf(result: keyof typeof CORE_REFUSALS | Refusal | { readonly overLimitSeconds: number }): Refused {
  if (typeof result === 'object') return 'over-limit'
  return isCoreRefusal(result) ? CORE_REFUSALS[result] : result
}

const isCoreRefusal = (result: string): result is keyof typeof CORE_REFUSALS => result in CORE_REFUSALS

const isRecipientRefusal = (refused: Refused): refused is Refusal => refused in REFUSAL_STATUS

const statusOf = (refused: Refused, version: number): number =>
  isRecipientRefusal(refused) ? REFUSAL_STATUS[refused] : submissionStatus(refused, version)

/** Builds the response to a submission that core has decided. */
function accepted(pdu: SubmissionPdu, results: SubmitResult['recipients'], { destinations }: ReadSubmission): Pdu {
  const { sequence } = pdu
  const first = results.find(({ id }) => id !== undefined)?.id
  const [refused] = results.flatMap(({ refused: reason }) => (reason === undefined ? [] : [REFUSAL_STATUS[reason]]))
  const status = first === undefined ? (refused ?? COMMAND_STATUS.ESME_RSUBMITFAIL) : 0
  const messageId = first === undefined ? '' : String(first)
  if (pdu.command !== 'submit_multi') {
    return {
      command: pdu.command === 'submit_sm' ? 'submit_sm_resp' : 'data_sm_resp',
      sequence,
      status,
      messageId,
      tlvs: noTlvs,
    }
  }
  const unsuccessSmes = results.flatMap(({ refused: reason }, at) => {
    const written = destinations[at]?.written
    return reason === undefined || written === undefined
      ? []
      : [{ ...written, errorStatusCode: REFUSAL_STATUS[reason] }]
  })
  return { command: 'submit_multi_resp', sequence, status, messageId, unsuccessSmes, tlvs: noTlvs }
}

async function query({ queries }: OperateSettings, { account }: SmppSession, pdu: QuerySm): Promise<Pdu> {
  const id = parseMessageId(pdu.messageId)
  const [status]: readonly (MessageStatus | undefined)[] =
    id === undefined ? [] : await queries.queryStatus(account, [id])
  if (status === undefined || status === 'not-found') return refuseOperation(pdu, COMMAND_STATUS.ESME_RQUERYFAIL)
  const found = { command: 'query_sm_resp', status: 0, sequence: pdu.sequence, messageId: pdu.messageId, tlvs: noTlvs }
  if (status.code === 'waiting')
    return { ...found, finalDate: '', messageState: MESSAGE_STATE.ENROUTE, errorCode: 0 } as Pdu
  const state = messageState(status.code, status.staysCharged)
  const isOpen = state === MESSAGE_STATE.ENROUTE || state === MESSAGE_STATE.UNKNOWN
  const errorCode = status.code === OUTCOME.delivered || isOpen ? 0 : Math.min(status.code, 255)
  return { ...found, finalDate: isOpen ? '' : smppTime(status.at), messageState: state, errorCode } as Pdu
}

async function cancel({ commands }: OperateSettings, { account }: SmppSession, pdu: CancelSm): Promise<Pdu> {
  const id = parseMessageId(pdu.messageId)
  const [deletion] = id === undefined ? [] : await commands.deleteScheduled(account, [id])
  const status = deletion?.outcome === 'deleted' ? 0 : COMMAND_STATUS.ESME_RCANCELFAIL
  return { command: 'cancel_sm_resp', status, sequence: pdu.sequence, tlvs: noTlvs }
}
