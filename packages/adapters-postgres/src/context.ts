import type { CarrierId } from '@gateway/core/dispatch'
import type { Changes } from './changes.ts'
import { messageIds, type MessageIds } from './messages/message-ids.ts'
import type { Pools } from './pools.ts'
import { allowedSenders, type AllowedSenders } from './senders/postgres-senders.ts'
import { senderNumbers, type SenderNumbers } from './senders/sender-numbers.ts'
import type { Log, Settings } from './settings.ts'

/** Objects that the adapters of one process share. */
export interface Context {
  readonly pools: Pools
  readonly settings: Settings
  readonly log: Log
  readonly changes: Changes
  /** Returns the number of a carrier in the tables, which is assigned at its first use. 0 stands for no carrier. */
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

/** Looks up the numbers of carriers, each once, because they never change. */
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
    if (made === undefined) throw new Error(`storing carrier ${name} returned no number`)
    return made.id
  }
  return (name) => {
    const number = known.get(name) ?? ask(name)
    known.set(name, number)
    number.catch(() => known.delete(name))
    return number
  }
}
