import { removeCluster, startEmbeddedPostgres } from '@gateway/embedded-postgres'
import { simulated, type RunningCarrier, type StartCarrier } from './carriers.ts'
import { copyCluster, databaseFolder, dataFolder, startApp, type Environment } from './process.ts'

/** Running gateway on a database of its own. */
export interface RunningGateway {
  readonly restUrl: string
  readonly aspUrl: string
  readonly xmlUrl: string
  /** Environment of the command line. */
  readonly environment: Environment
  /** Folder of the simulated carrier's record. */
  readonly folder: string
  readonly carrier: RunningCarrier
  /** Stops every process in order and removes the data. Returns the exit codes. */
  stop(): Promise<readonly (number | null)[]>
}

const delayMilliseconds = 10

export async function startAllInOne(further: Environment = {}, startCarrier = simulated): Promise<RunningGateway> {
  const data = await databaseFolder()
  const { carrier, environment } = await withCarrier(startCarrier, { DATA_DIR: data.path }, further)
  const app = await startApp('all-in-one', environment)
  return {
    restUrl: app.url,
    aspUrl: app.url,
    xmlUrl: app.url,
    environment,
    folder: data.path,
    carrier,
    stop: async () => {
      const codes = [await app.stop()]
      await carrier.stop()
      await data.remove()
      return codes
    },
  }
}

async function withCarrier(start: StartCarrier, place: Parameters<StartCarrier>[0], further: Environment) {
  const carrier = await start(place, delayMilliseconds)
  return { carrier, environment: { ...place, CARRIERS: carrier.url, ...further } }
}

/** Starts one process for each interface and two dispatchers, on one DATABASE_URL. */
export async function startFiveProcesses(further: Environment = {}, startCarrier = simulated): Promise<RunningGateway> {
  const data = await dataFolder()
  const cluster = `${data.path}/db`
  await copyCluster(cluster)
  const database = await startEmbeddedPostgres({ dataDir: cluster })
  const place = { DATABASE_URL: database.connectionString, DATA_DIR: data.path }
  const { carrier, environment } = await withCarrier(startCarrier, place, further)
  const apps = await Promise.all(
    (['rest', 'asp', 'xml', 'dispatcher', 'dispatcher'] as const).map((app) => startApp(app, environment)),
  )
  const [restUrl = '', aspUrl = '', xmlUrl = ''] = apps.map(({ url }) => url)
  return {
    restUrl,
    aspUrl,
    xmlUrl,
    environment,
    folder: data.path,
    carrier,
    stop: async () => {
      const codes = await Promise.all(apps.map((app) => app.stop()))
      await carrier.stop()
      await database.stop()
      await removeCluster(cluster)
      await data.remove()
      return codes
    },
  }
}
