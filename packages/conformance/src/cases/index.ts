import type { Case } from '../case.ts'
import { logInCases, limitCases } from './common/log-ins.ts'
import { referenceCases } from './common/references.ts'
import { refusalCases } from './common/refusals.ts'
import { replyCases } from './common/replies.ts'
import { requestIdCases, retryCases } from './common/retries.ts'
import { senderCases } from './common/senders.ts'
import { textCases } from './common/texts.ts'
import { urgencyCases } from './common/urgency.ts'
import { categoryCases } from './common/category.ts'
import { validityCases } from './common/validity.ts'
import { readingCases } from './query-string/reading.ts'
import { aspSendingCases } from './query-string/sending.ts'
import { authorizationCases, envelopeCases } from './rest/envelope.ts'
import { idCases } from './rest/ids.ts'
import { listCases } from './rest/lists.ts'
import { orderCases } from './rest/order-of-checks.ts'
import { sendCases } from './rest/send.ts'
import { transferCases } from './rest/transfer.ts'
import { webhookCases } from './rest/webhooks.ts'
import { smppBindCases } from './smpp/binds.ts'
import { smppRefusalCases } from './smpp/refusals.ts'
import { smppSubmissionCases } from './smpp/submissions.ts'
import { xmlReadingCases } from './xml/reading.ts'
import { xmlSendingCases } from './xml/sending.ts'

/** All cases. Those that wait for carriers and replies come first, so that the others run meanwhile. */
export const everyCase: readonly Case[] = [
  ...replyCases,
  ...refusalCases,
  ...referenceCases,
  ...validityCases,
  ...categoryCases,
  ...urgencyCases,
  ...senderCases,
  ...limitCases,
  ...textCases,
  ...retryCases,
  ...logInCases,
  ...requestIdCases,
  ...envelopeCases,
  ...authorizationCases,
  ...orderCases,
  ...sendCases,
  ...idCases,
  ...listCases,
  ...transferCases,
  ...webhookCases,
  ...readingCases,
  ...aspSendingCases,
  ...xmlReadingCases,
  ...xmlSendingCases,
  ...smppSubmissionCases,
  ...smppRefusalCases,
  ...smppBindCases,
]
