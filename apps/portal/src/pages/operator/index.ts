import type { Page } from '../../page.ts'
import { account } from './account.tsx'
import { accounts } from './accounts.tsx'
import { acting } from './acting.tsx'
import { arrivals } from './arrivals.tsx'
import { audit } from './audit.tsx'
import { carrier, carriers } from './carriers.tsx'
import { connect, connectProvider } from './connect.tsx'
import { connection } from './connection.tsx'
import { operatorMessage, operatorMessages } from './messages.tsx'
import { now } from './now.tsx'
import { numbers } from './numbers.tsx'
import { operators } from './operators.tsx'
import { providerAnswer, providerSignIn } from './provider.tsx'
import { routes } from './routes.tsx'
import { operatorSecurity } from './security.tsx'
import { operatorSignIn, operatorSignOut } from './sign-in.tsx'
import { operatorSmpp } from './smpp.tsx'
import { webhooks } from './webhooks.tsx'

export const operatorPages: readonly Page[] = [
  operatorSignIn,
  providerSignIn,
  providerAnswer,
  operatorSignOut,
  now,
  accounts,
  account,
  acting,
  operatorMessages,
  operatorMessage,
  carriers,
  carrier,
  connection,
  connect,
  connectProvider,
  routes,
  numbers,
  arrivals,
  webhooks,
  operatorSmpp,
  operators,
  audit,
  operatorSecurity,
]
