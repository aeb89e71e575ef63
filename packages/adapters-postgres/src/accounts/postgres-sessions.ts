import type { Session, SessionId, Sessions } from '@gateway/core'
import type { Context } from '../context.ts'
import { fromRow } from '../row-of.ts'
import { endSessions, findSession, listSessions, offerLink, openByLink, openSession } from '../sql/sessions.ts'

/** On the ordinary connections: people ask seldom. */
export const postgresSessions = ({ pools: { ordinary } }: Context): Sessions => ({
  open: async ({ account, user }, password, session, bounds) => {
    const [row] = await ordinary.run(openSession, { account, user, password, ...session, ...bounds })
    return row?.id as SessionId | undefined
  },
  offerLink: async (account, link, seconds) => (await ordinary.run(offerLink, { account, link, seconds })).length > 0,
  openByLink: async (link, session) => {
    const [row] = await ordinary.run(openByLink, { link, ...session })
    return row?.id as SessionId | undefined
  },
  async find(hash, bounds, use) {
    const [row] = await ordinary.run(findSession, { hash, use, ...bounds })
    return row && fromRow<Session>(row)
  },
  list: async ({ account, user }, bounds) =>
    (await ordinary.run(listSessions, { account, user, ...bounds })).map((row) => fromRow<Session>(row)),
  end: async ({ account, user }, only) =>
    (await ordinary.run(endSessions, { account, user, only, but: undefined })).length > 0,
  endAll: async ({ account, user }, but) =>
    (await ordinary.run(endSessions, { account, user, only: undefined, but })).length,
})
