import type { Page } from '../../page.ts'
import { conversation } from './conversation.tsx'
import { inbox } from './inbox.tsx'

export const inboxPages: readonly Page[] = [inbox, conversation]
