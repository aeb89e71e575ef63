import type { Page } from '../../page.ts'
import { messageChange } from './change.tsx'
import { message } from './message.tsx'
import { messages, messagesFile } from './messages.tsx'

export const messagesPages: readonly Page[] = [messages, messagesFile, message, messageChange]
