import type { SessionId, Sessions } from '@gateway/core'
import type { Context } from '../context.ts'
import { endSessions, findSession, listSessions, offerLink, openByLink, openSession } from '../sql/sessions.ts'

/** On the ordinary connections: people ask seldom. */
export const postgresSessions = ({ pools: { ordinary } }: Context): Sessions => ({
  open: async (account, password, session, bounds) => {
    const [row] = await ordinary.run(openSession, { account, password, ...session, ...bounds })
    return row?.id as SessionId | undefined
  },
  offerLink: async (account, link, seconds) => (await ordinary.run(offerLink, { account, link, seconds })).length > 0,
  openByLink: async (link, session) => {
    const [row] = await ordinary.run(openByLink, { link, ...session })
    return row?.id as SessionId | undefined
  },
  find: async (hash, bounds, use) => (await ordinary.run(findSession, { hash, use, ...bounds }))[0],
  list: (account, bounds) => ordinary.run(listSessions, { account, ...bounds }),
  end: async (account, only) => (await ordinary.run(endSessions, { account, only, but: undefined })).length > 0,
  endAll: async (account, but) => (await ordinary.run(endSessions, { account, only: undefined, but })).length,
})
