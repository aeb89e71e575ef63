import type { BackOffice } from '@gateway/core'
import type { AccountId, Account, AccountRate } from '@gateway/core/accounts'
import { formatCredits, type Cause, type Movement, type TransferRefusal } from '@gateway/core/credits'
import { Option } from 'commander'
import {
  readAccount,
  readFrom,
  readTo,
  readWholeCredits,
  readLimit,
  type Moment,
  type AccountName,
} from '../arguments.ts'
import { command, Refused, type Run, type Context } from '../command.ts'
import { each, mapped, type CsvRow, type Row } from '../output.ts'
import { creditsJson, timeJson, timeText } from '../show.ts'
import { accountOf } from './account.ts'

interface LedgerOptions {
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
    'reference',
  ],
]
const ledgerHead = ['ACCOUNT', 'TIME (GMT+2)', 'KIND', 'AMOUNT', 'BALANCE', 'WHY']

export const accountLedger = (run: Run) =>
  command(
    'ledger',
    'list every movement of the credits of an account, or of all, the oldest first, with the balance after it',
    'gateway account ledger 3 --from 2026-10-01 --to 2026-10-31 --csv > october.csv\n  gateway account ledger --all --from 2026-10-01 --to 2026-10-31 --csv > statements.csv',
  )
    .argument('[account]', "the account's id or login", readAccount)
    .option('--all', 'of all accounts, one after the other by id')
    .option(
      '--from <time>',
      'only from then on: a day (GMT+2), a time CCYYMMDDHHmm, or so many days ago (7d)',
      readFrom,
    )
    .option('--to <time>', 'only up to the end of that day, or before that time', readTo)
    .addOption(new Option('--csv', 'print it as CSV, its times in UTC (ISO 8601)').conflicts('json'))
    .action((name: AccountName | undefined, { from, to, all: ofAll, csv }: LedgerOptions) => {
      if ((name === undefined) === (ofAll === undefined)) throw new Refused('Name one account, or --all.', 2)
      return run(async ({ accountId, backOffice, ports, output }) => {
        const id = name && (await accountId(name))
        if (id !== undefined) await accountOf(backOffice, id)
        const now = ports.clock.now()
        const sum = { begins: 0 }
        const all = summed(each(backOffice.listMovements(id ?? 'all', { from: from?.(now), to: to?.(now) })), sum)
        await (csv ? output.csv(csvHead, mapped(all, csvRow)) : output.rows(ledgerHead, mapped(all, ledgerRow)))
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
  reference: cause.kind === 'send' ? (cause.reference ?? null) : null,
})

function firstOf(cause: Cause): number | null {
  if (cause.kind === 'refund-by-hand') return cause.message
  return cause.kind === 'send' || cause.kind === 'refund' ? (cause.first ?? null) : null
}

const csvRow = ({ account, at, amount, balance, cause }: Movement): CsvRow => {
  const { firstMessage, lastMessage, otherAccount, statusCode, why, reference } = detailsOf(cause)
  const details = [firstMessage ?? '', lastMessage ?? '', otherAccount ?? '', statusCode ?? '']
  const words = [why ?? '', reference ?? '']
  return [account, timeJson(at) ?? '', cause.kind, formatCredits(amount), formatCredits(balance), ...details, ...words]
}

const ledgerRow = ({ account, at, amount, balance, cause }: Movement): Row => ({
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

interface Wanted {
  readonly from: AccountId
  readonly to: AccountId
  readonly quantity: number
}

const WORDS: Readonly<Record<TransferRefusal, (wanted: Wanted) => string>> = {
  'invalid-from-account': ({ from }) => `There is no account ${from}.`,
  'invalid-to-account': ({ from, to }) => `Account ${to} is not in the family of account ${from}, or is not there.`,
  'from-account-locked': ({ from }) => `Account ${from} is locked, or its main account is.`,
  'to-account-locked': ({ to }) => `Account ${to} is locked.`,
  'same-account': () => 'The two accounts are the same.',
  'invalid-quantity': () => 'A transfer moves 1 to 1000000000000 whole credits.',
  'insufficient-credits': ({ from, quantity }) => `Account ${from} has less than ${quantity} credits.`,
  failed: () => 'The transfer failed; nothing was moved.',
}

export const accountTransfer = (run: Run) =>
  command(
    'transfer',
    'move credits between a main account and its sub accounts, or between two of these',
    'gateway account transfer 3 7 250',
  )
    .argument('<from>', 'the account that gives, by its id or login', readAccount)
    .argument('<to>', 'the account that gets, by its id or login', readAccount)
    .argument('<credits>', 'whole credits', readWholeCredits)
    .action((from: AccountName, to: AccountName, quantity: number) =>
      run(async (context) => {
        const wanted = { from: await context.accountId(from), to: await context.accountId(to), quantity }
        await transfer(context, wanted)
      }),
    )

async function transfer({ backOffice, gateway, change, output }: Context, wanted: Wanted): Promise<void> {
  const asker = await mainAccount(backOffice, wanted.from)
  const made = { action: 'transferCredits' as const, account: wanted.from, given: { ...wanted } }
  const done =
    asker === undefined ? 'invalid-from-account' : await change(made, () => gateway.transferCredits(asker, wanted))
  if (done !== 'done') throw new Refused(WORDS[done](wanted))
  const { from, to, quantity } = wanted
  output.result(
    { fromAccount: from, toAccount: to, amount: quantity },
    `${quantity} credits moved from account ${from} to account ${to}.`,
  )
}

/** Who may move credits between any of its family. */
async function mainAccount(backOffice: Context['backOffice'], id: AccountId): Promise<Account | undefined> {
  const account = (await backOffice.findAccount(id))?.account
  if (account?.parent === undefined) return account
  return (await backOffice.findAccount(account.parent))?.account
}

interface TopOptions {
  readonly by: 'requests' | 'messages'
  readonly limit: number
}

export const accountTop = (run: Run) =>
  command(
    'top',
    'show who is busiest: requests and messages a second of the last ten seconds, over all processes',
    'gateway account top --by messages',
  )
    .addOption(new Option('--by <what>', 'who comes first').choices(['requests', 'messages']).default('requests'))
    .option('--limit <count>', 'at most so many, up to 1000', readLimit, 20)
    .action(({ by, limit }: TopOptions) =>
      run(async ({ backOffice, output }) => {
        const rates = (await backOffice.listBusyAccounts()).filter((rate) => by === 'requests' || rate[by] > 0)
        const busiest = rates.toSorted((a, b) => b[by] - a[by]).slice(0, limit)
        await output.rows(topHead, await busiestRows(backOffice, busiest))
        if (busiest.length === 0) output.note('No account has asked for anything in the last half minute.')
      }),
    )

export const busiestRows = (backOffice: BackOffice, rates: readonly AccountRate[]): Promise<readonly Row[]> =>
  Promise.all(rates.map((rate) => topRow(backOffice, rate)))

export const topHead = ['ACCOUNT', 'LOGIN', 'REQUESTS/S', 'MESSAGES/S']

async function topRow(backOffice: BackOffice, { account, requests, messages }: AccountRate): Promise<Row> {
  const login = (await backOffice.findAccount(account))?.account.login ?? ''
  const [requestRate, messageRate] = [tenths(requests), tenths(messages)]
  return {
    json: { account, login, requestRate, messageRate },
    cells: [String(account), login, requestRate.toFixed(1), messageRate.toFixed(1)],
  }
}

const tenths = (rate: number): number => Math.round(rate * 10) / 10
