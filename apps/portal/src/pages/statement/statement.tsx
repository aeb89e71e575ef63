import { formatCredits, type Cause, type Movement } from '@gateway/core/credits'
import type { Cell } from '@gateway/wire'
import { Figures, Link, Panel, Table, When } from '../../components.tsx'
import { amount, counted, fileTime, fileZone, monthName, monthOf, startOfMonth } from '../../format.ts'
import { forHolders, type HolderVisit } from '../../page.ts'
import { codeWord } from '../../words.ts'
import type { ComponentChildren } from 'preact'

const shownMax = 500

function causeText(cause: Cause, isCredit: boolean): ComponentChildren {
  switch (cause.kind) {
    case 'top-up':
      return isCredit ? `Credits added: ${cause.why}` : `Credits taken by the operator: ${cause.why}`
    case 'transfer': {
      const other = cause.account === undefined ? 'another account' : `account ${cause.account}`
      return isCredit ? `From ${other}` : `To ${other}`
    }
    case 'send':
      return (
        <>
          {counted(cause.messages, 'message')}, from <Link to={`/messages/${cause.first}`}>message {cause.first}</Link>{' '}
          on
        </>
      )
    case 'refund':
      return `Given back${cause.code === undefined ? '' : `: ${codeWord(cause.code)}`}`
    case 'refund-by-hand':
      return `Given back for message ${cause.message}: ${cause.why}`
    case 'dropped-sends':
      return 'Messages of earlier months'
  }
}

/** The movements of a month: its first and last balances, and as many rows as a page has. */
async function read({ gateway, account }: HolderVisit, month: string) {
  const period = { from: startOfMonth(month), to: startOfMonth(month, 1) }
  const rows: Movement[] = []
  let [movements, added, taken] = [0, 0, 0]
  let last: Movement | undefined
  for await (const piece of gateway.listMovements(account, period)) {
    for (const movement of piece) {
      movements += 1
      if (movement.amount > 0) added += movement.amount
      else taken -= movement.amount
      if (rows.length < shownMax) rows.push(movement)
      last = movement
    }
  }
  return { rows, movements, added, taken, last }
}

/** `/statement`: leads to this month. */
export const thisStatement = forHolders({
  path: '/statement',
  show: ({ now }) => ({ goTo: `/statement/${monthOf(now)}` }),
})

/** `/statement/<month>`: every movement of credits in a month, each with the balance after it. */
export const statement = forHolders({
  path: '/statement/:month',
  async show(visit) {
    const month = visit.parameters.month ?? ''
    const begins = startOfMonth(month)
    if (begins === undefined || begins > visit.now) return 'not-found'
    const { rows, movements, added, taken, last } = await read(visit, month)
    const [before, after] = [startOfMonth(month, -1), startOfMonth(month, 1)]
    const first = rows[0]
    return {
      title: `Statement of ${monthName(month)}`,
      place: 'statement',
      main: (
        <>
          <h1>Statement of {monthName(month)}</h1>
          <Panel>
            {first !== undefined && last !== undefined && (
              <Figures
                of={[
                  ['At the beginning', amount((first.balance - first.amount) as Movement['amount'])],
                  ['Added', amount(added as Movement['amount'])],
                  ['Spent or moved', amount(taken as Movement['amount'])],
                  ['At the end', amount(last.balance)],
                ]}
              />
            )}
            <Table
              caption={movements > shownMax ? `The first ${shownMax} of ${movements} movements` : 'Movements'}
              rows={rows}
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

/** `/statement/<month>/download`: all movements of a month, as a file. */
export const statementFile = forHolders({
  path: '/statement/:month/download',
  isFile: true,
  show(visit) {
    const month = visit.parameters.month ?? ''
    const begins = startOfMonth(month)
    if (begins === undefined || begins > visit.now) return 'not-found'
    return { fileName: `statement-${month}.csv`, rows: allMovements(visit, month) }
  },
})

async function* allMovements({ gateway, account }: HolderVisit, month: string): AsyncIterable<readonly Cell[]> {
  yield [`At (${fileZone})`, 'What', 'Messages', 'First message', 'Other account', 'Why', 'Credits', 'Balance']
  const period = { from: startOfMonth(month), to: startOfMonth(month, 1) }
  for await (const piece of gateway.listMovements(account, period)) {
    for (const { at, cause, amount: moved, balance } of piece) {
      const why = 'why' in cause ? cause.why : ''
      const other = 'account' in cause ? (cause.account ?? '') : ''
      const ofSend = cause.kind === 'send' ? [cause.messages, cause.first] : ['', '']
      yield [fileTime(at), cause.kind, ...ofSend, other, why, formatCredits(moved), formatCredits(balance)]
    }
  }
}
