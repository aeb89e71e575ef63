import type { LastSend, SentMessage, SentMessages } from '@gateway/core'
import type { Context } from '../context.ts'
import { fromRow } from '../row-of.ts'
import { findSent, lastSend, listSent } from '../sql/sent-messages.ts'

export const postgresSentMessages = ({ pools: { ordinary } }: Context): SentMessages => ({
  list: async (account, page) =>
    (await ordinary.run(listSent, { account, ...page, after: page.after, until: page.until })).map((row) =>
      fromRow<SentMessage>(row),
    ),
  find: async (account, message) => {
    const [row] = await ordinary.run(findSent, { account, message })
    return row && fromRow<SentMessage>(row)
  },
  lastSend: async (account, since, numbersMin) => {
    const [row] = await ordinary.run(lastSend, { account, since, numbersMin })
    return row && fromRow<LastSend>(row)
  },
})
