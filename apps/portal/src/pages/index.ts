import type { Page } from '../page.ts'
import { message } from './messages/message.tsx'
import { messages } from './messages/messages.tsx'
import { overview } from './overview/overview.tsx'
import { send } from './send/send.tsx'
import { sent } from './send/sent.tsx'
import { signInLink } from './session/sign-in-link.tsx'
import { signIn } from './session/sign-in.tsx'
import { signOut } from './session/sign-out.tsx'

/** Every page of the portal: one that is not here does not exist. The tests of roles and tenants are made from it. */
export const pages: readonly Page[] = [...[signIn, signInLink, signOut], ...[overview, send, sent, messages, message]]
