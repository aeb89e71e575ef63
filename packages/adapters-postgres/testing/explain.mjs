import { runSources } from '../../../scripts/run-sources.mjs'

runSources(new URL('explain.ts', import.meta.url))
