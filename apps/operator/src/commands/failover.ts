import { failedOverSendDays, type DoubtDecision, type FailedOverSend, type Promotion } from '@gateway/core/dispatch'
import { command, Refused, yesOption, type Context, type Run } from '../command.ts'
import { counted, durationText, timeJson, timeText } from '../show.ts'

const head = ['NOTICED (GMT+2)', 'TIMELINE', 'LAST CHANGE THAT ARRIVED', 'IN DOUBT', 'DUE FROM', 'DUE TO', 'DECISION']

/** Explanation of messages in doubt, written for an operator who is called at night. */
const explanation = `A database standby was promoted that may lack the changes which the lost server made after the last
change that arrived here. According to this database the messages in doubt are waiting, but they may
have been submitted before the failover. Messages accepted after the promotion are sent as usual.
Receipts that arrive show which messages were submitted. Then decide about the others:
  gateway failover resume --send   submits them; messages that were already submitted are sent twice
  gateway failover resume --end    submits none of them; they become SENT 106 and stay charged`

export const failoverStatus = (run: Run) =>
  command(
    'status',
    'show the messages in doubt after the promotion of a database standby, and the period that is not known',
    'gateway failover status',
  ).action(() =>
    run(async ({ backOffice, output, ports }) => {
      const now = ports.clock.now()
      const promotions = await backOffice.queries.listPromotions()
      await output.rows(
        head,
        promotions.map((promotion) => ({ json: promotionJson(promotion), cells: cellsOf(promotion) })),
        undefined,
        'folded',
      )
      if (promotions.length === 0) output.note('No message is in doubt.')
      for (const { lastChange, noticed, lastPosition } of promotions) {
        if (lastChange !== undefined)
          output.note(
            `Changes of the lost server are unknown for ${durationText(noticed - lastChange)}, from ${timeText(lastChange)} to ${timeText(noticed)}.`,
          )
        if (lastPosition !== undefined)
          output.note(
            `The write-ahead log of the lost server arrived up to ${lastPosition}. If pg_controldata on that server says "shut down" and its latest checkpoint is before that position, nothing is missing.`,
          )
        output.note(`The messages have waited for ${durationText(now - noticed)}.`)
      }
      if (promotions.length > 0) output.note(explanation)
      noteSends(output, await backOffice.queries.listFailedOverSends())
    }),
  )

/** Prints a note on bulk sends that failovers stopped. Their accounts decide whether to send the rest. */
function noteSends(output: Context['output'], sends: readonly FailedOverSend[]): void {
  if (sends.length === 0) return
  output.note(
    `Stopped by a failover in the last ${failedOverSendDays} days: ${counted(sends.length, 'send')} to many of the portal.`,
  )
  for (const { id, account, failedOver, rows } of sends)
    output.note(
      `  account ${account}, send ${id}, ${timeText(failedOver)}: ${counted(rows, 'row')} not accepted here may have been sent`,
    )
  output.note('The page of each send offers these rows as a file. Its account decides whether to send to them again.')
}

const promotionJson = (promotion: Promotion) => ({
  noticed: timeJson(promotion.noticed),
  fromTimeline: promotion.fromTimeline,
  timeline: promotion.timeline,
  lastChange: timeJson(promotion.lastChange),
  lastPosition: promotion.lastPosition ?? null,
  inDoubtAtFirst: promotion.messages,
  inDoubt: promotion.inDoubt,
  firstDue: timeJson(promotion.due?.first),
  lastDue: timeJson(promotion.due?.last),
  decision: promotion.decision?.choice ?? null,
  decidedBy: promotion.decision?.by ?? null,
  decided: timeJson(promotion.decision?.at),
})

const cellsOf = ({ noticed, fromTimeline, timeline, lastChange, messages, inDoubt, due, decision }: Promotion) => [
  timeText(noticed),
  `${fromTimeline} to ${timeline}`,
  lastChange === undefined ? 'not known' : timeText(lastChange),
  inDoubt === messages ? String(inDoubt) : `${inDoubt} of ${messages}`,
  due === undefined ? '' : timeText(due.first),
  due === undefined ? '' : timeText(due.last),
  decision === undefined ? 'none yet' : `${decision.choice}, by ${decision.by}, ${timeText(decision.at)}`,
]

interface ResumeOptions {
  readonly send?: true
  readonly end?: true
  readonly yes?: true
}

export const failoverResume = (run: Run) =>
  command(
    'resume',
    'decide about the messages in doubt after the promotion of a database standby: send them, or end them as SENT 106',
    'gateway failover resume --send',
  )
    .option('--send', 'submit them; messages that the lost server had submitted are sent twice')
    .option(
      '--end',
      'submit none of them; they become SENT 106 and stay charged, and a later receipt still changes their state',
    )
    .option(...yesOption)
    .action(({ send, end, ...confirmation }: ResumeOptions) => {
      if ((send === true) === (end === true)) throw new Refused('Use either --send or --end.', 2)
      return run((context) => resume(context, send === true ? 'send' : 'end', confirmation))
    })

const QUESTION: Readonly<Record<DoubtDecision, (count: string) => string>> = {
  send: (count) => `Submit ${count}? Messages that the lost server had submitted are sent twice.`,
  end: (count) => `End ${count} as SENT 106? They are not sent and stay charged.`,
}

const DONE: Readonly<Record<DoubtDecision, (count: string) => string>> = {
  send: (count) => `${count} wait for dispatchers again.`,
  end: (count) => `${count} ended as SENT 106.`,
}

const DECIDED_OTHERWISE: Readonly<Record<DoubtDecision, string>> = {
  send: 'An operator has decided to end them, and that is in progress or was interrupted. gateway failover resume --end continues.',
  end: 'An operator has decided to send them, and that is in progress or was interrupted. gateway failover resume --send continues.',
}

async function resume(
  { backOffice, output, confirm, actor }: Context,
  decision: DoubtDecision,
  confirmation: Pick<ResumeOptions, 'yes'>,
): Promise<void> {
  const inDoubt = (await backOffice.queries.listPromotions()).reduce((sum, promotion) => sum + promotion.inDoubt, 0)
  if (inDoubt > 0) await confirm(QUESTION[decision](counted(inDoubt, 'message')), confirmation)
  const decided = await output.during('Applying the decision', backOffice.commands.decideDoubt(decision, actor.by))
  if (decided.outcome === 'decided-otherwise') throw new Refused(DECIDED_OTHERWISE[decision])
  const messages = decided.outcome === 'done' ? decided.messages : 0
  const proved =
    decided.proved === 0 ? '' : ` Receipts proved that ${counted(decided.proved, 'message')} had been submitted.`
  output.result(
    { decision, messages, proved: decided.proved },
    decided.outcome === 'nothing-in-doubt'
      ? `No message is in doubt.${proved}`
      : `${DONE[decision](counted(messages, 'message'))}${proved}`,
  )
}
