import {
  credits,
  formatCredits,
  minus,
  plus,
  statementSum,
  type Cause,
  type Credits,
  type Movement,
  type StatementPage,
  type StatementSum,
} from '@gateway/core/credits'
import type { Cell } from '@gateway/wire'
import type { ComponentChildren } from 'preact'
import { Figures, Link, Panel, Table, When } from '../../components.tsx'
import { amount, count, counted, fileTime, fileZone, monthName, monthOf, startOfMonth } from '../../format.ts'
import { forHolders, type HolderVisit } from '../../page.ts'
import { codeWord } from '../../words.ts'

const pageLines = 100

function causeText(cause: Cause, isCredit: boolean): ComponentChildren {
  switch (cause.kind) {
    case 'top-up':
      return isCredit ? `Added: ${cause.why}` : `Taken by the operator: ${cause.why}`
    case 'transfer': {
      const other = cause.account === undefined ? 'another account' : `account ${cause.account}`
      return isCredit ? `From ${other}` : `To ${other}`
    }
    case 'send':
      return (
        <>
          Charged: {counted(cause.messages, 'message')}
          {cause.bulk === undefined ? (
            <>
              , from <Link to={`/messages/${cause.first}`}>message {cause.first}</Link> on
            </>
          ) : (
            <>
              {' '}
              of <Link to={`/send/${cause.bulk}/sent`}>send {cause.bulk}</Link>
            </>
          )}
        </>
      )
    case 'refund':
      return (
        <>
          Returned{cause.code !== undefined && `: ${codeWord(cause.code)}`}
          {cause.bulk !== undefined && (
            <>
              , of <Link to={`/send/${cause.bulk}/sent`}>send {cause.bulk}</Link>
            </>
          )}
        </>
      )
    case 'refund-by-hand':
      return (
        <>
          Returned for <Link to={`/messages/${cause.message}`}>message {cause.message}</Link>: {cause.why}
        </>
      )
    case 'dropped-sends':
      return 'Charged: messages of earlier months'
  }
}

const periodOf = (month: string) => ({ from: startOfMonth(month), to: startOfMonth(month, 1) })

const opposite = (value: Credits): Credits => minus(credits(0), value)

function Sums({ sums, begins, ends }: StatementPage) {
  const { added, taken: takenByOperator, moved, charged, returned } = sums
  return (
    <Figures
      of={[
        ['At the beginning', amount(begins)],
        ['Added', amount(added)],
        ...(takenByOperator === 0 ? [] : [['Taken by the operator', amount(opposite(takenByOperator))] as const]),
        ...(moved === 0 ? [] : [['From and to other accounts', amount(moved)] as const]),
        ['Charged', amount(opposite(charged))],
        ['Returned', amount(returned)],
        ['Net', amount(opposite(plus(charged, returned)))],
        ['At the end', amount(ends)],
      ]}
    />
  )
}

/** `/statement`: redirects to the current month. */
export const thisStatement = forHolders({
  path: '/statement',
  show: ({ now }) => ({ goTo: `/statement/${monthOf(now)}` }),
})

/** Returns the page of the query (`?page=`), from 1. */
function pageOf(query: URLSearchParams): number {
  const pageText = query.get('page') ?? ''
  return /^[1-9][0-9]{0,6}$/.test(pageText) ? Number(pageText) : 1
}

const Pages = ({ month, page, last }: { readonly month: string; readonly page: number; readonly last: number }) =>
  last <= 1 ? null : (
    <nav class="actions" aria-label="Pages of the statement">
      {page > 1 && <Link to={`/statement/${month}?page=${page - 1}`}>Earlier</Link>}
      <span class="soft">
        Page {count(page)} of {count(last)}
      </span>
      {page < last && <Link to={`/statement/${month}?page=${page + 1}`}>Later</Link>}
      {page < last && <Link to={`/statement/${month}?page=${last}`}>Last page</Link>}
    </nav>
  )

function captionOf(page: number, { lines, total }: StatementPage): string {
  if (total <= pageLines) return 'Movements'
  const first = (page - 1) * pageLines + 1
  return `Movements ${count(first)} to ${count(first + lines.length - 1)} of ${count(total)}`
}

const Movements = ({ caption, lines, month }: { caption: string; lines: readonly Movement[]; month: string }) => (
  <Table
    caption={caption}
    rows={lines}
    empty={`No credits were moved in ${monthName(month)}.`}
    columns={[
      { head: 'When', cell: ({ at }) => <When at={at} /> },
      {
        head: 'What',
        cell: (movement) => <span class="text">{causeText(movement.cause, movement.amount > 0)}</span>,
      },
      { head: 'Credits', number: true, cell: (movement) => amount(movement.amount) },
      { head: 'Balance', number: true, cell: ({ balance }) => amount(balance) },
    ]}
  />
)

/**
 * `/statement/<month>`: lists every movement of credits in a month with the balance after it. `?page=` continues the
 * list.
 */
export const statement = forHolders({
  path: '/statement/:month',
  async show(visit) {
    const month = visit.parameters.month ?? ''
    const begins = startOfMonth(month)
    if (begins === undefined || begins > visit.now) return 'not-found'
    const page = pageOf(visit.query)
    const place = { offset: (page - 1) * pageLines, limit: pageLines }
    const found = await visit.gateway.queries.showStatement(visit.account, periodOf(month), place)
    const last = Math.max(1, Math.ceil(found.total / pageLines))
    if (page > last) return { goTo: `/statement/${month}?page=${last}` }
    const [before, after] = [startOfMonth(month, -1), startOfMonth(month, 1)]
    return {
      title: `Statement of ${monthName(month)}`,
      place: 'statement',
      main: (
        <>
          <h1>Statement of {monthName(month)}</h1>
          <Panel>
            {found.total > 0 && <Sums {...found} />}
            <Movements caption={captionOf(page, found)} lines={found.lines} month={month} />
            <Pages month={month} page={page} last={last} />
          </Panel>
          <div class="actions">
            <Link to={`/statement/${month}/download`}>Download as CSV</Link>
            {before !== undefined && <Link to={`/statement/${monthOf(before)}`}>{monthName(monthOf(before))}</Link>}
            {after !== undefined && after <= visit.now && (
              <Link to={`/statement/${monthOf(after)}`}>{monthName(monthOf(after))}</Link>
            )}
          </div>
        </>
      ),
    }
  },
})

/** `/statement/<month>/download`: returns the lines of all pages as a file. */
export const statementFile = forHolders({
  path: '/statement/:month/download',
  isFile: true,
  show(visit) {
    const month = visit.parameters.month ?? ''
    const begins = startOfMonth(month)
    if (begins === undefined || begins > visit.now) return 'not-found'
    return { fileName: `statement-${month}.csv`, rows: allLines(visit, month) }
  },
})

/** Words for the cause of a line in the file, the same as in the figures of the page. */
const SUM: Readonly<Record<StatementSum, string>> = {
  added: 'Added',
  taken: 'Taken by the operator',
  moved: 'From or to another account',
  charged: 'Charged',
  returned: 'Returned',
}

const fileHead = [
  ...[`When (${fileZone})`, 'What', 'Messages', 'Send', 'First message', 'State', 'Other account', 'Reference'],
  ...['Why', 'Credits', 'Balance', 'Category'],
]

async function* allLines(visit: HolderVisit, month: string): AsyncIterable<readonly Cell[]> {
  yield fileHead
  for await (const piece of visit.gateway.queries.listStatement(visit.account, periodOf(month))) {
    for (const line of piece) {
      const { at, amount: moved, balance } = line
      const cells = [...causeCells(line.cause), formatCredits(moved), formatCredits(balance), categoryOf(line.cause)]
      yield [fileTime(at), SUM[statementSum(line.cause, moved)], ...cells]
    }
  }
}

const categoryOf = (cause: Cause): string => (cause.kind === 'send' ? (cause.category ?? '') : '')

/** Returns the cells of a line for messages, send, first message, state, other account, reference and reason. */
function causeCells(cause: Cause): readonly Cell[] {
  switch (cause.kind) {
    case 'send':
      return [cause.messages, cause.bulk ?? '', cause.first, '', '', cause.reference ?? '', '']
    case 'refund': {
      const state = cause.code === undefined ? '' : codeWord(cause.code)
      return ['', cause.bulk ?? '', cause.first ?? '', state, '', '', '']
    }
    case 'refund-by-hand':
      return [1, '', cause.message, '', '', '', cause.why]
    case 'transfer':
      return ['', '', '', '', cause.account ?? '', '', '']
    case 'top-up':
      return ['', '', '', '', '', '', cause.why]
    case 'dropped-sends':
      return ['', '', '', '', '', '', 'messages of earlier months']
  }
}
