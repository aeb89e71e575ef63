import { formatCredits, type AccountId, type MessageId } from '@gateway/core'
import { readAccountId, readMessageId } from '../arguments.ts'
import { command } from '../command.ts'
import { Refused, type Run } from '../context.ts'
import { creditsJson } from '../show.ts'

interface Options {
  readonly why: string
  readonly account?: AccountId
}

const WORDS = {
  'no-reason': () => 'Say with --why what the refund is for.',
  'no-such-message': (id: MessageId) =>
    `There is no message ${id}: nobody was given this id, or its history was dropped.`,
  'other-account': (id: MessageId) => `Message ${id} is of another account.`,
  waiting: (id: MessageId) =>
    `Message ${id} waits: it is refunded by itself if no carrier takes it. See gateway message cancel.`,
  'refunded-already': (id: MessageId) => `Message ${id} was refunded already: see gateway message explain ${id}.`,
  'nothing-charged': (id: MessageId) => `Message ${id} cost nothing.`,
} as const

export const messageRefund = (run: Run) =>
  command(
    'refund',
    'give back what a message was charged, once ever, to the account that was charged',
    "gateway message refund 20481 --why 'complaint 118'",
  )
    .argument('<id>', "the message's id", readMessageId)
    .requiredOption('--why <text>', 'the reason, kept in the ledger')
    .option('--account <id>', 'only if it is a message of this account', readAccountId)
    .action((id: MessageId, { why, account: of }: Options) =>
      run(async ({ backOffice, output }) => {
        const refunded = await backOffice.refundMessage(id, why, of)
        if (typeof refunded === 'string') throw new Refused(WORDS[refunded](id))
        const { account, amount, balance } = refunded
        output.result(
          { message: id, account, amount: creditsJson(amount), balance: creditsJson(balance) },
          `${formatCredits(amount)} credits of message ${id} are back; account ${account} now has ${formatCredits(balance)} credits.`,
        )
      }),
    )
