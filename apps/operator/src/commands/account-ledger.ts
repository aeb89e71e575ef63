import { formatCredits, type AccountId, type Cause, type Movement } from '@gateway/core'
import { Option } from 'commander'
import { readAccountId, readFrom, readTo, type Moment } from '../arguments.ts'
import { command } from '../command.ts'
import { Refused, type Run } from '../context.ts'
import { each, mapped, type CsvRow, type Row } from '../output.ts'
import { creditsJson, timeJson, timeText } from '../show.ts'
import { accountOf } from './account-of.ts'

interface Options {
  readonly from?: Moment
  readonly to?: Moment
  readonly all?: true
  readonly csv?: true
}

const csvHead = [
  ...[
    'account',
    'time',
    'kind',
    'amount',
    'balance',
    'firstMessage',
    'lastMessage',
    'otherAccount',
    'statusCode',
    'why',
  ],
]
const head = ['ACCOUNT', 'TIME (GMT+2)', 'KIND', 'AMOUNT', 'BALANCE', 'WHY']

export const accountLedger = (run: Run) =>
  command(
    'ledger',
    'list every movement of the credits of an account, or of all, the oldest first, with the balance after it',
    'gateway account ledger 3 --from 2026-10-01 --to 2026-10-31 --csv > october.csv\n  gateway account ledger --all --from 2026-10-01 --to 2026-10-31 --csv > statements.csv',
  )
    .argument('[id]', "the account's id", readAccountId)
    .option('--all', 'of all accounts, one after the other by id')
    .option(
      '--from <time>',
      'only from then on: a day (GMT+2), a time CCYYMMDDHHmm, or so many days ago (7d)',
      readFrom,
    )
    .option('--to <time>', 'only up to the end of that day, or before that time', readTo)
    .addOption(new Option('--csv', 'print it as CSV, its times in UTC (ISO 8601)').conflicts('json'))
    .action((id: AccountId | undefined, { from, to, all: ofAll, csv }: Options) => {
      if ((id === undefined) === (ofAll === undefined)) throw new Refused('Name one account, or --all.', 2)
      return run(async ({ backOffice, ports, output }) => {
        if (id !== undefined) await accountOf(backOffice, id)
        const now = ports.clock.now()
        const sum = { begins: 0 }
        const all = summed(each(backOffice.listMovements(id ?? 'all', { from: from?.(now), to: to?.(now) })), sum)
        await (csv ? output.csv(csvHead, mapped(all, csvRow)) : output.rows(head, mapped(all, row)))
        if (from === undefined && sum.begins > 0) {
          throw new Refused('The movements do not add up to the balance: see gateway credits verify.')
        }
      })
    })

/** Counts the accounts whose first movement does not begin with nothing. */
async function* summed(movements: AsyncIterable<Movement>, sum: { begins: number }): AsyncIterable<Movement> {
  let last: AccountId | undefined
  for await (const movement of movements) {
    if (movement.account !== last && movement.balance !== movement.amount) sum.begins++
    last = movement.account
    yield movement
  }
}

/** What a movement has besides its time and its amounts; null: it has none. */
const detailsOf = (cause: Cause) => ({
  firstMessage: firstOf(cause),
  lastMessage:
    cause.kind === 'refund-by-hand' ? cause.message : cause.kind === 'send' ? cause.first + cause.messages - 1 : null,
  otherAccount: cause.kind === 'transfer' ? (cause.account ?? null) : null,
  statusCode: cause.kind === 'refund' ? (cause.code ?? null) : null,
  why: cause.kind === 'top-up' || cause.kind === 'refund-by-hand' ? cause.why : null,
})

function firstOf(cause: Cause): number | null {
  if (cause.kind === 'refund-by-hand') return cause.message
  return cause.kind === 'send' || cause.kind === 'refund' ? (cause.first ?? null) : null
}

const csvRow = ({ account, at, amount, balance, cause }: Movement): CsvRow => {
  const { firstMessage, lastMessage, otherAccount, statusCode, why } = detailsOf(cause)
  const details = [firstMessage ?? '', lastMessage ?? '', otherAccount ?? '', statusCode ?? '', { text: why ?? '' }]
  return [account, timeJson(at) ?? '', cause.kind, formatCredits(amount), formatCredits(balance), ...details]
}

const row = ({ account, at, amount, balance, cause }: Movement): Row => ({
  json: {
    account,
    time: timeJson(at),
    kind: cause.kind,
    amount: creditsJson(amount),
    balance: creditsJson(balance),
    ...detailsOf(cause),
  },
  cells: [
    String(account),
    timeText(at),
    cause.kind,
    formatCredits(amount),
    formatCredits(balance),
    whyText(amount, cause),
  ],
})

function whyText(amount: number, cause: Cause): string {
  if (cause.kind === 'top-up') return cause.why
  if (cause.kind === 'refund-by-hand') return `message ${cause.message}: ${cause.why}`
  if (cause.kind === 'transfer') return `${amount < 0 ? 'to' : 'from'} account ${cause.account ?? 'unknown'}`
  if (cause.kind === 'dropped-sends') return 'sends until then whose history was dropped'
  if (cause.kind === 'refund')
    return `of the send of message ${cause.first ?? 'unknown'}, code ${cause.code ?? 'unknown'}`
  const last = cause.first + cause.messages - 1
  return cause.messages === 1 ? `message ${cause.first}` : `messages ${cause.first} to ${last}`
}
