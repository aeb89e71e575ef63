import type { Page } from '../../page.ts'
import { bulkDraft, bulkText } from './bulk-draft.tsx'
import { bulkRefused, bulkResults, bulkSent } from './bulk-sent.tsx'
import { bulkChanged } from './changed-numbers.tsx'
import { bulkColumns } from './columns.tsx'
import { drafts } from './drafts.tsx'
import { send } from './send.tsx'
import { sends } from './sends.tsx'

export const sendPages: readonly Page[] = [
  send,
  sends,
  drafts,
  bulkDraft,
  bulkText,
  bulkColumns,
  bulkChanged,
  bulkSent,
  bulkResults,
  bulkRefused,
]
