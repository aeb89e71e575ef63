import type { ShownBind, SmppBinds } from '@gateway/core/smpp-customers'
import type { Context } from '../context.ts'
import {
  addBind,
  closeBinds,
  countBinds,
  listBinds,
  lockCredential,
  probeBinds,
  ratesOfBinds,
  reportBinds,
  seeProcess,
} from '../sql/smpp-binds.ts'

export const postgresSmppBinds = ({ pools: { ordinary } }: Context): SmppBinds => ({
  open: async (credential, { id, process, mode, remote, version }) => {
    await ordinary.run(seeProcess, { process })
    return ordinary.transaction(async (connection) => {
      // The lock makes concurrent calls count each other's binds.
      const [limit] = await connection.run(lockCredential, { credential })
      if (limit === undefined) return 'no-such-credential'
      const [counted] = await connection.run(countBinds, { credential })
      const { busy = 0, transmitting = 0, receiving = 0 } = counted ?? {}
      const isFull =
        (mode !== 'receiver' && transmitting >= limit.binds) || (mode !== 'transmitter' && receiving >= limit.binds)
      if (isFull) {
        await connection.run(probeBinds, { credential })
        return { busy }
      }
      await connection.run(addBind, { id, process, credential, mode, remote, version })
      return 'opened'
    })
  },
  close: async (process, ids) => {
    await ordinary.run(closeBinds, { process, ids })
  },
  report: async (process, binds) => {
    await ordinary.run(seeProcess, { process })
    const found = await ordinary.run(reportBinds, {
      process,
      ids: binds.map(({ id }) => id),
      errors: binds.map(({ lastError }) => lastError),
      strayTexts: binds.map(({ strayTexts }) => strayTexts),
      submissions: binds.map(({ submissions }) => submissions),
    })
    const known = new Set(found.map(({ id }) => id))
    return {
      rates: await ordinary.run(ratesOfBinds, { process }),
      close: binds.flatMap(({ id }) => (known.has(id) ? [] : [id])),
      probe: found.flatMap(({ id, probe }) => (probe ? [id] : [])),
    }
  },
  list: async (account) =>
    (await ordinary.run(listBinds, { account })).map(({ lastError, ...bind }): ShownBind =>
      lastError === null ? bind : { ...bind, lastError },
    ),
})
