import { runSources } from '../../scripts/run-sources.mjs'

runSources(new URL('main.ts', import.meta.url))
