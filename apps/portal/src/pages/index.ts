import type { Page } from '../page.ts'
import { accountsPages } from './accounts/index.ts'
import { inboxPages } from './inbox/index.ts'
import { messagesPages } from './messages/index.ts'
import { operatorPages } from './operator/index.ts'
import { optOutsPages } from './opt-outs/index.ts'
import { overviewPages } from './overview/index.ts'
import { sendPages } from './send/index.ts'
import { sessionPages } from './session/index.ts'
import { settingsPages } from './settings/index.ts'
import { statementPages } from './statement/index.ts'
import { templatesPages } from './templates/index.ts'

/**
 * All pages of the portal. The router serves no other page, and the tests of roles and tenants are generated from this
 * list.
 */
export const pages: readonly Page[] = [
  ...sessionPages,
  ...overviewPages,
  ...sendPages,
  ...messagesPages,
  ...operatorPages,
  ...inboxPages,
  ...optOutsPages,
  ...templatesPages,
  ...statementPages,
  ...accountsPages,
  ...settingsPages,
]
