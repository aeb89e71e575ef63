import type { CarrierId } from '@gateway/core/dispatch'
import type { Changes } from './changes.ts'
import { messageIds, type MessageIds } from './messages/message-ids.ts'
import type { Pools } from './pools.ts'
import { allowedSenders, type AllowedSenders } from './senders/allowed-senders.ts'
import { senderNumbers, type SenderNumbers } from './senders/sender-numbers.ts'
import type { Log, Settings } from './settings.ts'

/** What the adapters of one process share. */
export interface Context {
  readonly pools: Pools
  readonly settings: Settings
  readonly log: Log
  readonly changes: Changes
  /** The number that stands for a carrier in the tables, given at its first use; 0 stands for none. */
  carrierNumber(name: CarrierId): Promise<number>
  readonly senders: SenderNumbers
  readonly allowedSenders: AllowedSenders
  readonly ids: MessageIds
}

export function createContext(pools: Pools, changes: Changes, settings: Settings, log: Log): Context {
  return {
    pools,
    changes,
    settings,
    log,
    carrierNumber: carrierNumbers(pools),
    senders: senderNumbers(pools.hot),
    allowedSenders: allowedSenders(pools, changes, settings),
    ids: messageIds(pools.hot, settings.ids),
  }
}

/** Numbers of carriers never change: each is asked for once. */
function carrierNumbers({ kysely }: Pools): Context['carrierNumber'] {
  const known = new Map<CarrierId, Promise<number>>()
  async function ask(name: CarrierId): Promise<number> {
    const find = () => kysely.selectFrom('carrier').select('id').where('name', '=', name).executeTakeFirst()
    const found = await find()
    if (found !== undefined) return found.id
    await kysely
      .insertInto('carrier')
      .values({ name })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    const made = await find()
    if (made === undefined) throw new Error(`carrier ${name} has no number`)
    return made.id
  }
  return (name) => {
    const asked = known.get(name) ?? ask(name)
    known.set(name, asked)
    asked.catch(() => known.delete(name))
    return asked
  }
}
