import type { Page } from '../../page.ts'
import { bulkDraft } from './bulk-draft.tsx'
import { bulkRefused, bulkResults, bulkSent } from './bulk-sent.tsx'
import { bulkChanged } from './changed-numbers.tsx'
import { bulkColumns } from './columns.tsx'
import { drafts } from './drafts.tsx'
import { editDraft } from './edit-draft.tsx'
import { send } from './send.tsx'
import { sends } from './sends.tsx'

export const sendPages: readonly Page[] = [
  send,
  sends,
  drafts,
  bulkDraft,
  editDraft,
  bulkColumns,
  bulkChanged,
  bulkSent,
  bulkResults,
  bulkRefused,
]
