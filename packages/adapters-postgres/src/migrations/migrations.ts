import { accountsAndMessages } from './0001-accounts-and-messages.ts'
import { flights } from './0002-flights.ts'
import { deletesAndTransfers } from './0003-deletes-and-transfers.ts'
import { history } from './0004-history.ts'
import { dispatcherSince } from './0005-dispatcher-since.ts'
import { senderNumbers } from './0006-senders.ts'
import { inbox } from './0007-inbox.ts'
import { dispatcherVersion } from './0008-dispatcher-version.ts'
import type { Migration } from './migration.ts'

/** Every step of the schema, in order. */
export const migrations: readonly Migration[] = [
  accountsAndMessages,
  flights,
  deletesAndTransfers,
  history,
  dispatcherSince,
  senderNumbers,
  inbox,
  dispatcherVersion,
]
