import type { DeliveryReceipts, UnknownMessage } from '@gateway/core/dispatch'
import { OUTCOME, senderOver } from '@gateway/core/messages'
import { secondsAfter } from '@gateway/core/time'
import { atomic } from './atomic.ts'
import { allowedTo } from './messages.ts'
import { referenceKey, type MemoryStore } from './store.ts'

export const memoryUnknownMessages = (store: MemoryStore): Pick<DeliveryReceipts, 'storeUnknown' | 'takeUnknown'> => ({
  storeUnknown: atomic((carrier, references) => {
    for (const reference of references) {
      const key = referenceKey(carrier, reference)
      if (store.unknownReferences.has(key)) continue
      store.unknownReferences.set(key, { carrier, reference, at: store.clock.now(), isQueried: false })
    }
  }),
  takeUnknown: atomic((carrier, { afterSeconds, withinSeconds, countMax }) => {
    const now = store.clock.now()
    const [youngest, oldest] = [secondsAfter(now, -afterSeconds), secondsAfter(now, -withinSeconds)]
    const due = [...store.unknownReferences.values()].filter(
      (one) => one.carrier === carrier && !one.isQueried && one.at <= youngest && one.at > oldest,
    )
    return due.slice(0, countMax).flatMap((one): UnknownMessage | [] => {
      one.isQueried = true
      const { reference } = one
      const row = store.references.get(referenceKey(carrier, reference))
      const { decision } = row ?? {}
      if (row === undefined || decision === undefined || decision.handedOver <= oldest) return []
      const part = decision.parts.find((one) => one.reference === reference)
      if ((part ?? decision).code !== OUTCOME.unknown) return []
      const { from } = senderOver(carrier, allowedTo(store, row.send.account), row.from)
      return { reference, number: row.number, from }
    })
  }),
})
