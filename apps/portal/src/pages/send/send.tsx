import type { Fields } from '../../forms.ts'
import { forHolders } from '../../page.ts'
import { compose } from './compose.tsx'
import { draftOf, type Draft } from './draft-fields.tsx'
import { filePreview } from './file-preview.tsx'
import { quoteTyped } from './live-quote.tsx'
import { storeFile, storeTyped } from './store-draft.ts'
import { templateChoice } from './templates-choice.tsx'

/** Returns the index of the column that was chosen in the preview of the file, or undefined without scripts. */
function columnOf(fields: Fields): number | undefined {
  const column = fields.text('column')
  return /^[0-9]{1,2}$/.test(column) ? Number(column) : undefined
}

const blank: Draft = { text: '', numbers: '', time: '', sender: '', validity: '', flash: '', category: '' }

/**
 * `/send`: shows the form of a new send. The input is stored as a draft before the check is shown, so that a reload, a
 * step back or a second click concerns the same send.
 */
export const send = forHolders({
  path: '/send',
  isForm: true,
  takesFile: true,
  async show(visit) {
    const { gateway, account, query } = visit
    const choice = await templateChoice(visit)
    const draft = { ...blank, text: choice.chosen?.text ?? '', numbers: query.get('to')?.slice(0, 20) ?? '' }
    return compose(account, draft, await gateway.queries.listOwnSenders(account), {}, choice)
  },
  changes: 'draftBulkSend',
  async submit(visit, fields) {
    const draft = draftOf(fields)
    const step = fields.text('step')
    if (fields.file !== undefined && step === 'preview')
      return filePreview(visit, fields.file, fields.text('cut') !== '', draft.text)
    const own = await visit.gateway.queries.listOwnSenders(visit.account)
    if (fields.file === undefined && step === 'quote') return quoteTyped(visit, draft, own)
    const stored =
      fields.file === undefined
        ? await storeTyped(visit, draft, own)
        : await storeFile(visit, draft, own, fields.file, columnOf(fields))
    return 'goTo' in stored ? stored : compose(visit.account, draft, own, stored.problems)
  },
})
