import { readSoughtNumber, readWrittenNumber, type Msisdn } from '@gateway/core/messages'
import type { BlockReason } from '@gateway/core/suppressions'
import { Form, Hidden, Main, Notice, Panel, ProblemSummary, Second, Table, TextField, When } from '../../components.tsx'
import type { Problems } from '../../forms.ts'
import { count } from '../../format.ts'
import { forOperators, type OperatorVisit, type View } from '../../page.ts'
import { NUMBER_PROBLEM } from '../../words.ts'
import { ReadAs } from '../../written-number.tsx'

const shownMax = 50

const REASON: Readonly<Record<BlockReason, string>> = {
  blacklist: 'Blocked: no account can send to it',
  'do-not-contact': 'Do not contact: only transactional accounts can send to it',
}
const reasons = ['blacklist', 'do-not-contact'] as const

interface Entry {
  readonly number: Msisdn
  readonly reason: BlockReason
  readonly since: Parameters<typeof When>[0]['at']
}

async function listed({ backOffice }: OperatorVisit): Promise<readonly Entry[]> {
  const rows: Entry[] = []
  for (const reason of reasons) {
    for await (const { number, since } of backOffice.queries.listBlockedNumbers(reason)) {
      rows.push({ number, reason, since })
      if (rows.length > shownMax) return rows
    }
  }
  return rows
}

async function view(visit: OperatorVisit, notice?: View['main'], problems: Problems = {}, number = ''): Promise<View> {
  const rows = await listed(visit)
  return {
    title: 'Blocked numbers',
    place: 'numbers',
    status: Object.keys(problems).length > 0 ? 422 : 200,
    main: (
      <>
        {notice}
        <ProblemSummary problems={problems} />
        <h1>Blocked numbers</h1>
        <Panel title="Block a number for all accounts">
          <Form to="/operator/numbers">
            <Hidden name="act" value="block" />
            <TextField
              name="number"
              label="Number"
              hint="In international form, such as 27825550101"
              value={number}
              problems={problems}
            />
            <fieldset>
              <legend>Which list</legend>
              {reasons.map((reason, at) => (
                <label key={reason} class="box">
                  <input type="radio" name="reason" value={reason} checked={at === 0} /> {REASON[reason]}
                </label>
              ))}
            </fieldset>
            <Main>Block</Main>
          </Form>
        </Panel>
        <Panel>
          <Table
            caption="Numbers that are blocked for all accounts"
            rows={rows.slice(0, shownMax)}
            empty="No number is blocked. Opt-outs belong to the accounts."
            columns={[
              { head: 'Number', cell: (one) => one.number },
              { head: 'List', cell: ({ reason }) => REASON[reason] },
              { head: 'Since', cell: ({ since }) => <When at={since} /> },
              {
                head: 'Unblock',
                cell: (one) => (
                  <Form to="/operator/numbers">
                    <Hidden name="act" value="unblock" />
                    <Hidden name="number" value={one.number} />
                    <Hidden name="reason" value={one.reason} />
                    <Second>Unblock {one.number}</Second>
                  </Form>
                ),
              },
            ]}
          />
          {rows.length > shownMax && (
            <p class="hint">These are {count(shownMax)}. "gateway number list" lists all, and imports files.</p>
          )}
        </Panel>
      </>
    ),
  }
}

/** `/operator/numbers`: lists the numbers that are blocked for all accounts. Blocks and unblocks numbers. */
export const numbers = forOperators({
  path: '/operator/numbers',
  show: (visit) => view(visit),
  async submit(visit, fields) {
    const typed = fields.trimmed('number')
    const isUnblock = fields.text('act') === 'unblock'
    const { number, unread } = isUnblock ? readSoughtNumber(typed) : readWrittenNumber(typed)
    const reason = reasons.find((one) => one === fields.text('reason'))
    if (number === undefined) return view(visit, undefined, { number: NUMBER_PROBLEM[unread] }, typed)
    if (reason === undefined) return view(visit, undefined, { number: 'Choose a list.' }, typed)
    if (isUnblock) {
      await visit.backOffice.commands.unblockNumber(number, [reason])
      return view(
        visit,
        <Notice>
          {number} is not blocked any more by this list. <ReadAs written={typed} />
        </Notice>,
      )
    }
    await visit.backOffice.commands.blockNumber(number, reason)
    return view(
      visit,
      <Notice>
        {number} is blocked. Messages that wait for it will not be sent. <ReadAs written={typed} />
      </Notice>,
    )
  },
})
