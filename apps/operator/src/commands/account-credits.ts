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
    'category',
  ],
]
const ledgerHead = ['ACCOUNT', 'TIME (GMT+2)', 'KIND', 'AMOUNT', 'BALANCE', 'WHY']

export const accountLedger = (run: Run) =>
  command(
    'ledger',
    'list every movement of credits of one account or of all accounts, oldest first, with the balance after each',
    'gateway account ledger 3 --from 2026-10-01 --to 2026-10-31 --csv > october.csv\n  gateway account ledger --all --from 2026-10-01 --to 2026-10-31 --csv > statements.csv',
  )
    .argument('[account]', "the account's id or login", readAccount)
    .option('--all', 'movements of all accounts, one account after the other, by id')
    .option(
      '--from <time>',
      'only movements since: a day (GMT+2), a time CCYYMMDDHHmm, or a number of days ago (7d)',
      readFrom,
    )
    .option('--to <time>', 'only movements up to the end of that day, or before that time', readTo)
    .addOption(new Option('--csv', 'print it as CSV, its times in UTC (ISO 8601)').conflicts('json'))
    .action((name: AccountName | undefined, { from, to, all: isAll, csv }: LedgerOptions) => {
      if ((name === undefined) === (isAll === undefined)) throw new Refused('Name one account or use --all.', 2)
      return run(async ({ accountId, backOffice, ports, output }) => {
        const id = name && (await accountId(name))
        if (id !== undefined) await accountOf(backOffice, id)
        const now = ports.clock.now()
        const odd = { accounts: 0 }
        const all = summed(
          each(backOffice.queries.listMovements(id ?? 'all', { from: from?.(now), to: to?.(now) })),
          odd,
        )
        await (csv ? output.csv(csvHead, mapped(all, csvRow)) : output.rows(ledgerHead, mapped(all, ledgerRow)))
        if (from === undefined && odd.accounts > 0) {
          throw new Refused('The movements do not add up to the balance. See gateway credits verify.')
        }
      })
    })

/** Yields the movements unchanged. Counts the accounts whose first movement does not start from a balance of 0. */
async function* summed(movements: AsyncIterable<Movement>, odd: { accounts: number }): AsyncIterable<Movement> {
  let last: AccountId | undefined
  for await (const movement of movements) {
    if (movement.account !== last && movement.balance !== movement.amount) odd.accounts++
    last = movement.account
    yield movement
  }
}

/** Returns the details of a movement besides its time and amounts. A detail that the movement lacks is null. */
const detailsOf = (cause: Cause) => ({
  firstMessage: firstOf(cause),
  lastMessage:
    cause.kind === 'refund-by-hand' ? cause.message : cause.kind === 'send' ? cause.first + cause.messages - 1 : null,
  otherAccount: cause.kind === 'transfer' ? (cause.account ?? null) : null,
  statusCode: cause.kind === 'refund' ? (cause.code ?? null) : null,
  why: cause.kind === 'top-up' || cause.kind === 'refund-by-hand' ? cause.why : null,
  reference: cause.kind === 'send' ? (cause.reference ?? null) : null,
  category: cause.kind === 'send' ? (cause.category ?? null) : null,
})

function firstOf(cause: Cause): number | null {
  if (cause.kind === 'refund-by-hand') return cause.message
  return cause.kind === 'send' || cause.kind === 'refund' ? (cause.first ?? null) : null
}

const csvRow = ({ account, at, amount, balance, cause }: Movement): CsvRow => {
  const { firstMessage, lastMessage, otherAccount, statusCode, why, reference, category } = detailsOf(cause)
  const details = [firstMessage ?? '', lastMessage ?? '', otherAccount ?? '', statusCode ?? '']
  const words = [why ?? '', reference ?? '', category ?? '']
  return [account, timeJson(at) ?? '', cause.kind, formatCredits(amount), formatCredits(balance), ...details, ...words]
}

/** Words in the table for the kinds of movements. The portal's statement uses the same words. */
const KIND: Readonly<Record<Cause['kind'], string>> = {
  'top-up': 'added',
  transfer: 'moved',
  send: 'charged',
  'dropped-sends': 'charged',
  refund: 'returned',
  'refund-by-hand': 'returned',
}

const kindText = (amount: number, { kind }: Cause): string => (kind === 'top-up' && amount < 0 ? 'taken' : KIND[kind])

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
    kindText(amount, cause),
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

interface Transfer {
  readonly from: AccountId
  readonly to: AccountId
  readonly quantity: number
}

const WORDS: Readonly<Record<TransferRefusal, (transfer: Transfer) => string>> = {
  'invalid-from-account': ({ from }) => `There is no account ${from}.`,
  'invalid-to-account': ({ from, to }) => `Account ${to} does not exist or is not in the family of account ${from}.`,
  'from-account-locked': ({ from }) => `Account ${from} is locked, or its main account is.`,
  'to-account-locked': ({ to }) => `Account ${to} is locked.`,
  'same-account': () => 'The two accounts are the same.',
  'invalid-quantity': () => 'A transfer moves 1 to 1000000000000 whole credits.',
  'insufficient-credits': ({ from, quantity }) => `Account ${from} has less than ${quantity} credits.`,
  failed: () => 'The transfer failed. No credits were moved.',
}

export const accountTransfer = (run: Run) =>
  command(
    'transfer',
    'move credits between a main account and its sub accounts, or between two sub accounts of it',
    'gateway account transfer 3 7 250',
  )
    .argument('<from>', 'the account that gives credits, by its id or login', readAccount)
    .argument('<to>', 'the account that gets credits, by its id or login', readAccount)
    .argument('<credits>', 'whole credits', readWholeCredits)
    .action((from: AccountName, to: AccountName, quantity: number) =>
      run(async (context) => {
        await transfer(context, { from: await context.accountId(from), to: await context.accountId(to), quantity })
      }),
    )

async function transfer({ backOffice, gateway, change, output }: Context, order: Transfer): Promise<void> {
  const main = await mainAccount(backOffice, order.from)
  const made = { action: 'transferCredits' as const, account: order.from, given: { ...order } }
  const done =
    main === undefined
      ? 'invalid-from-account'
      : await change(made, () => gateway.commands.transferCredits(main, order))
  if (done !== 'done') throw new Refused(WORDS[done](order))
  const { from, to, quantity } = order
  output.result(
    { fromAccount: from, toAccount: to, amount: quantity },
    `${quantity} credits moved from account ${from} to account ${to}.`,
  )
}

/** Returns the main account of a family, which may move credits between all accounts of the family. */
async function mainAccount(backOffice: Context['backOffice'], id: AccountId): Promise<Account | undefined> {
  const account = (await backOffice.queries.findAccount(id))?.account
  if (account?.parent === undefined) return account
  return (await backOffice.queries.findAccount(account.parent))?.account
}

interface TopOptions {
  readonly by: 'requests' | 'messages'
  readonly limit: number
}

export const accountTop = (run: Run) =>
  command(
    'top',
    'show the busiest accounts: requests and messages per second in the last ten seconds, over all processes',
    'gateway account top --by messages',
  )
    .addOption(
      new Option('--by <what>', 'the order of the accounts').choices(['requests', 'messages']).default('requests'),
    )
    .option('--limit <count>', 'maximum number of rows, up to 1000', readLimit, 20)
    .action(({ by, limit }: TopOptions) =>
      run(async ({ backOffice, output }) => {
        const rates = (await backOffice.queries.listBusyAccounts()).filter((rate) => by === 'requests' || rate[by] > 0)
        const busiest = rates.toSorted((a, b) => b[by] - a[by]).slice(0, limit)
        await output.rows(topHead, await busiestRows(backOffice, busiest))
        if (busiest.length === 0) output.note('No account has made a request in the last 30 seconds.')
      }),
    )

export const busiestRows = (backOffice: BackOffice, rates: readonly AccountRate[]): Promise<readonly Row[]> =>
  Promise.all(rates.map((rate) => topRow(backOffice, rate)))

export const topHead = ['ACCOUNT', 'LOGIN', 'REQUESTS/S', 'MESSAGES/S']

async function topRow(backOffice: BackOffice, { account, requests, messages }: AccountRate): Promise<Row> {
  const login = (await backOffice.queries.findAccount(account))?.account.login ?? ''
  const [requestRate, messageRate] = [tenths(requests), tenths(messages)]
  return {
    json: { account, login, requestRate, messageRate },
    cells: [String(account), login, requestRate.toFixed(1), messageRate.toFixed(1)],
  }
}

const tenths = (rate: number): number => Math.round(rate * 10) / 10
