import { readSoughtNumber, readWrittenNumber } from '@gateway/core/messages'
import { carrierOptOutText, type OptOut } from '@gateway/core/suppressions'
import { Form, Hidden, Main, Notice, Panel, ProblemSummary, Second, Table, TextField, When } from '../../components.tsx'
import type { Problems } from '../../forms.ts'
import { forHolders, type HolderVisit, type View } from '../../page.ts'
import { NUMBER_PROBLEM } from '../../words.ts'
import { ReadAs } from '../../written-number.tsx'

const pageSize = 50

const done: Readonly<Record<string, string>> = {
  added: 'The number is opted out: your messages to it are refused.',
  already: 'The number was already opted out.',
  removed: 'You can write to the number again.',
}

/** Returns one page of opt-outs after a number, in the order of the list. Reads no more rows than the page needs. */
async function pageOf({ gateway, account, query }: HolderVisit) {
  const after = query.get('after') ?? ''
  const found: OptOut[] = []
  for await (const piece of gateway.queries.listOptOuts(account)) {
    found.push(...piece.filter(({ number }) => number > after))
    if (found.length > pageSize) break
  }
  return { entries: found.slice(0, pageSize), more: found.length > pageSize, isFirst: after === '' }
}

async function view(visit: HolderVisit, number = '', problems: Problems = {}): Promise<View> {
  const { entries, more, isFirst } = await pageOf(visit)
  const notice = done[visit.query.get('done') ?? '']
  return {
    title: 'Opt-outs',
    place: 'opt-outs',
    status: Object.keys(problems).length > 0 ? 422 : 200,
    main: (
      <>
        <h1>Opt-outs</h1>
        {notice !== undefined && (
          <Notice>
            {notice} <ReadAs written={visit.query.get('written')} />
          </Notice>
        )}
        <ProblemSummary problems={problems} />
        <p>
          People who do not want messages from you. A reply such as STOP adds its number here, START takes it off again.
        </p>
        <Form to="/opt-outs" class="panel">
          <Hidden name="do" value="add" />
          <TextField
            name="number"
            label="Add a number"
            hint="With the country code. Nothing is sent to it."
            value={number}
            problems={problems}
          />
          <Main>Opt out</Main>
        </Form>
        <Panel>
          <Table
            caption={isFirst ? 'By number' : 'By number, continued'}
            rows={entries}
            empty={isFirst ? 'Nobody has opted out.' : 'There are no more.'}
            columns={[
              { head: 'Number', cell: (entry) => entry.number },
              { head: 'Since', cell: ({ since }) => <When at={since} /> },
              {
                head: 'Why',
                cell: ({ reply }) => <span class="text">{reasonOf(reply)}</span>,
              },
              { head: 'Change', cell: (entry) => <Remove number={entry.number} /> },
            ]}
          />
        </Panel>
        <div class="actions">
          {!isFirst && <a href="?">From the beginning</a>}
          {more && <a href={`?after=${entries.at(-1)?.number ?? ''}`}>More</a>}
        </div>
      </>
    ),
  }
}

/** Returns the words for the origin of an opt-out. */
function reasonOf(reply: OptOut['reply']): string {
  if (reply === undefined) return 'added by you'
  return reply.text === carrierOptOutText ? 'reported by the carrier' : `“${reply.text}”`
}

const Remove = ({ number }: { readonly number: string }) => (
  <Form to="/opt-outs">
    <Hidden name="do" value="remove" />
    <Hidden name="number" value={number} />
    <Second>
      Allow again<span class="unseen"> {number}</span>
    </Second>
  </Form>
)

/** `/opt-outs`: lists the opt-outs of the account, and adds and removes numbers (rulings 1.22, 1.23). */
export const optOuts = forHolders({
  path: '/opt-outs',
  show: (visit) => view(visit),
  changes: 'addOptOut',
  async submit(visit, fields) {
    const { gateway, account } = visit
    const typed = fields.trimmed('number')
    if (fields.text('do') === 'remove') {
      const { number } = readSoughtNumber(typed)
      const removed = number !== undefined && (await gateway.commands.removeOptOut(account, number))
      return { goTo: `/opt-outs${removed ? '?done=removed' : ''}` }
    }
    const { number, unread, changed } = readWrittenNumber(typed)
    if (number === undefined) return view(visit, typed, { number: NUMBER_PROBLEM[unread] })
    const written = changed ? `&written=${encodeURIComponent(typed)}` : ''
    return { goTo: `/opt-outs?done=${await gateway.commands.addOptOut(account, number)}${written}` }
  },
})
