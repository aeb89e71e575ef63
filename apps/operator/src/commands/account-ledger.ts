import { formatCredits, type AccountId, type Cause, type Instant, type Movement } from '@gateway/core'
import { Option } from 'commander'
import { readAccountId, readFrom, readTo } from '../arguments.ts'
import { command } from '../command.ts'
import { Refused, type Run } from '../context.ts'
import { each, mapped, type CsvRow, type Row } from '../output.ts'
import { creditsJson, timeJson, timeText } from '../show.ts'
import { accountOf } from './account-of.ts'

interface Options {
  readonly from?: Instant
  readonly to?: Instant
  readonly csv?: true
}

const csvHead = ['time', 'kind', 'amount', 'balance', 'firstMessage', 'lastMessage', 'account', 'code', 'why']
const head = ['TIME (GMT+2)', 'KIND', 'AMOUNT', 'BALANCE', 'WHY']

export const accountLedger = (run: Run) =>
  command(
    'ledger',
    'list every movement of the credits of an account, the oldest first, with the balance after it',
    'gateway account ledger 3 --from 2026-10-01 --to 2026-10-31 --csv > october.csv',
  )
    .argument('<id>', "the account's id", readAccountId)
    .option(
      '--from <time>',
      'only from then on: a day (GMT+2), a time CCYYMMDDHHmm, or so many days ago (7d)',
      readFrom,
    )
    .option('--to <time>', 'only up to the end of that day, or before that time', readTo)
    .addOption(new Option('--csv', 'print it as CSV, its times in UTC (ISO 8601)').conflicts('json'))
    .action((id: AccountId, { from, to, csv }: Options) =>
      run(async ({ backOffice, output }) => {
        await accountOf(backOffice, id)
        const sum: { begin?: number } = {}
        const all = summed(each(backOffice.listMovements(id, { from, to })), sum)
        await (csv ? output.csv(csvHead, mapped(all, csvRow)) : output.rows(head, mapped(all, row)))
        if (from === undefined && (sum.begin ?? 0) !== 0) {
          throw new Refused('The movements do not add up to the balance: see gateway credits verify.')
        }
      }),
    )

/** Notes with what balance the first of them begins. */
async function* summed(movements: AsyncIterable<Movement>, sum: { begin?: number }): AsyncIterable<Movement> {
  for await (const movement of movements) {
    sum.begin ??= movement.balance - movement.amount
    yield movement
  }
}

/** What a movement has besides its time and its amounts; null: it has none. */
const detailsOf = (cause: Cause) => ({
  firstMessage: cause.kind === 'send' || cause.kind === 'refund' ? (cause.first ?? null) : null,
  lastMessage: cause.kind === 'send' ? cause.first + cause.messages - 1 : null,
  account: cause.kind === 'transfer' ? (cause.account ?? null) : null,
  code: cause.kind === 'refund' ? (cause.code ?? null) : null,
  why: cause.kind === 'top-up' ? cause.why : null,
})

const csvRow = ({ at, amount, balance, cause }: Movement): CsvRow => {
  const { firstMessage, lastMessage, account, code, why } = detailsOf(cause)
  const details = [firstMessage ?? '', lastMessage ?? '', account ?? '', code ?? '', { text: why ?? '' }]
  return [timeJson(at) ?? '', cause.kind, formatCredits(amount), formatCredits(balance), ...details]
}

const row = ({ at, amount, balance, cause }: Movement): Row => ({
  json: {
    time: timeJson(at),
    kind: cause.kind,
    amount: creditsJson(amount),
    balance: creditsJson(balance),
    ...detailsOf(cause),
  },
  cells: [timeText(at), cause.kind, formatCredits(amount), formatCredits(balance), whyText(amount, cause)],
})

function whyText(amount: number, cause: Cause): string {
  if (cause.kind === 'top-up') return cause.why
  if (cause.kind === 'transfer') return `${amount < 0 ? 'to' : 'from'} account ${cause.account ?? 'unknown'}`
  if (cause.kind === 'dropped-sends') return 'sends until then whose history was dropped'
  if (cause.kind === 'refund')
    return `of the send of message ${cause.first ?? 'unknown'}, code ${cause.code ?? 'unknown'}`
  const last = cause.first + cause.messages - 1
  return cause.messages === 1 ? `message ${cause.first}` : `messages ${cause.first} to ${last}`
}
