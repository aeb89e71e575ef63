import type { BulkSend } from '@gateway/core/bulk-sends'
import { Form, Link, Main, ProblemSummary } from '../../components.tsx'
import type { Problems } from '../../forms.ts'
import { ListFields } from '../../list-fields.tsx'
import { forHolders, type HolderVisit, type View } from '../../page.ts'
import { inCalls } from '../../read-list.ts'
import {
  draftOf,
  enteredOf,
  Numbers,
  readSending,
  SendingFields,
  textProblems,
  TextToSend,
  type Draft,
} from './draft-fields.tsx'
import { LiveQuote, quoteTyped } from './live-quote.tsx'
import { isTyped, ownBulkSend, storedRows } from './own-bulk-send.ts'
import { typedProblems, typedRows } from './store-draft.ts'
import { templateChoice, Templates } from './templates-choice.tsx'

/** Returns the numbers of a typed draft as they were entered. */
async function typedNumbers(visit: HolderVisit, send: BulkSend): Promise<string> {
  const numbers: string[] = []
  for await (const { number, fields } of storedRows(visit, send)) numbers.push(fields[0] ?? number)
  return numbers.join('\n')
}

/** `/send/<id>/text`: changes a draft: its text, sender, time and options, and its numbers if they were typed. */
export const editDraft = forHolders({
  path: '/send/:id/text',
  isForm: true,
  async show(visit) {
    const send = await ownBulkSend(visit)
    if (send === undefined) return 'not-found'
    if (send.state !== 'draft') return { goTo: `/send/${send.id}/sent` }
    const { chosen } = await templateChoice(visit)
    const stored = enteredOf(send, isTyped(send) ? await typedNumbers(visit, send) : '')
    const problems = visit.query.get('why') === 'problem' ? textProblems(stored.text, send.columns) : {}
    return form(visit, send, chosen === undefined ? stored : { ...stored, text: chosen.text }, problems)
  },
  changes: 'changeBulkSend',
  async submit(visit, fields) {
    const { gateway, account } = visit
    const send = await ownBulkSend(visit)
    if (send === undefined) return 'not-found'
    const draft = draftOf(fields)
    const own = await gateway.queries.listOwnSenders(account)
    if (fields.text('step') === 'quote') return quoteTyped(visit, draft, own)
    const { problems: ofSending, ...sending } = readSending(draft, own)
    const problems = isTyped(send)
      ? typedProblems(visit, draft, own)
      : { ...textProblems(draft.text, send.columns), ...ofSending }
    if (Object.keys(problems).length > 0) return form(visit, send, draft, problems)
    const calls = isTyped(send) ? inCalls(typedRows(visit, draft)) : undefined
    const { columns } = send
    await gateway.commands.changeBulkSend(account, send.id, { columns, text: draft.text, ...sending }, calls)
    return { goTo: `/send/${send.id}` }
  },
})

async function form(visit: HolderVisit, send: BulkSend, draft: Draft, problems: Problems): Promise<View> {
  const { gateway, account } = visit
  const { id, columns } = send
  const own = await gateway.queries.listOwnSenders(account)
  const rows = isTyped(send) ? [] : (await gateway.queries.bulkRows(account, id, 0)).slice(0, 1)
  const list = { columns, rows }
  return {
    title: 'Change the send',
    place: 'send',
    status: Object.keys(problems).length > 0 ? 422 : 200,
    main: (
      <>
        <h1>Change the send</h1>
        <ProblemSummary problems={problems} />
        <Templates of={await templateChoice(visit)} />
        <Form to={`/send/${id}/text`} class="panel">
          <TextToSend text={draft.text} problems={problems} />
          {isTyped(send) ? (
            <Numbers numbers={draft.numbers} country={account.callingCode} problems={problems} />
          ) : (
            <div data-island="fields" data-list={JSON.stringify(list)}>
              <ListFields of={list} text={draft.text} />
            </div>
          )}
          <SendingFields draft={draft} own={own} problems={problems} />
          {isTyped(send) && <LiveQuote />}
          <Main>Check before sending</Main>
        </Form>
        <div class="actions">
          <Link to={`/send/${id}`}>Keep it as it is</Link>
        </div>
      </>
    ),
  }
}
