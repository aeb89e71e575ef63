import type { Page } from '../page.ts'
import { accounts } from './accounts/accounts.tsx'
import { conversation } from './inbox/conversation.tsx'
import { inbox } from './inbox/inbox.tsx'
import { messageChange } from './messages/change.tsx'
import { message } from './messages/message.tsx'
import { messages, messagesFile } from './messages/messages.tsx'
import { acting } from './operator/acting.tsx'
import { account } from './operator/account.tsx'
import { accounts as operatorAccounts } from './operator/accounts.tsx'
import { arrivals } from './operator/arrivals.tsx'
import { audit } from './operator/audit.tsx'
import { carrier, carriers } from './operator/carriers.tsx'
import { operatorMessage, operatorMessages } from './operator/messages.tsx'
import { now } from './operator/now.tsx'
import { numbers } from './operator/numbers.tsx'
import { operators } from './operator/operators.tsx'
import { routes } from './operator/routes.tsx'
import { operatorSecurity } from './operator/security.tsx'
import { providerAnswer, providerSignIn } from './operator/provider.tsx'
import { operatorSignIn, operatorSignOut } from './operator/sign-in.tsx'
import { webhooks as operatorWebhooks } from './operator/webhooks.tsx'
import { optOuts } from './opt-outs/opt-outs.tsx'
import { overview } from './overview/overview.tsx'
import { bulkDraft, bulkText } from './send/bulk-draft.tsx'
import { drafts } from './send/drafts.tsx'
import { bulkChanged } from './send/changed-numbers.tsx'
import { bulkColumns } from './send/columns.tsx'
import { bulkRefused, bulkResults, bulkSent } from './send/bulk-sent.tsx'
import { send } from './send/send.tsx'
import { sends } from './send/sends.tsx'
import { invitation } from './session/invitation.tsx'
import { signInLink } from './session/sign-in-link.tsx'
import { signIn } from './session/sign-in.tsx'
import { signOut } from './session/sign-out.tsx'
import { key, keys } from './settings/keys.tsx'
import { security } from './settings/security.tsx'
import { user, users } from './settings/users.tsx'
import { webhook, webhookRemoval } from './settings/webhook.tsx'
import { webhooks } from './settings/webhooks.tsx'
import { statement, statementFile, thisStatement } from './statement/statement.tsx'
import { template, templates } from './templates/templates.tsx'

/**
 * All pages of the portal. The router serves no other page, and the tests of roles and tenants are generated from this
 * list.
 */
export const pages: readonly Page[] = [
  ...[signIn, signInLink, invitation, signOut],
  ...[overview, send, sends, drafts, messages, messagesFile, message, messageChange],
  ...[bulkDraft, bulkText, bulkColumns, bulkChanged, bulkSent, bulkResults, bulkRefused],
  ...[
    operatorSignIn,
    providerSignIn,
    providerAnswer,
    operatorSignOut,
    now,
    operatorAccounts,
    account,
    acting,
    operatorMessages,
    operatorMessage,
    carriers,
    carrier,
    routes,
  ],
  ...[numbers, arrivals, operatorWebhooks, operators, audit, operatorSecurity],
  ...[inbox, conversation, optOuts, templates, template],
  ...[thisStatement, statement, statementFile, accounts],
  ...[keys, key, webhooks, webhook, webhookRemoval, users, user, security],
]
