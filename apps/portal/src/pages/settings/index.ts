import type { Page } from '../../page.ts'
import { country } from './country.tsx'
import { key, keys } from './keys.tsx'
import { security } from './security.tsx'
import { smpp } from './smpp.tsx'
import { smppCredential, smppRemoval } from './smpp-credential.tsx'
import { user, users } from './users.tsx'
import { webhook, webhookRemoval } from './webhook.tsx'
import { webhooks } from './webhooks.tsx'

export const settingsPages: readonly Page[] = [
  ...[keys, key, webhooks, webhook, webhookRemoval, smpp, smppCredential, smppRemoval],
  ...[users, user, country, security],
]
