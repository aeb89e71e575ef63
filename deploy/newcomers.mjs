/**
 * Times how long a newcomer waits: from the first command to a message that a browser shows as delivered, by a clone
 * and by the package, each with an empty home, so that nothing comes from an earlier installation. Of a built
 * checkout; Chromium and the packed files are made before and not counted.
 *
 *   npx pnpm build && node deploy/newcomers.mjs [clone] [npx]
 */
import { runSources } from '../scripts/run-sources.mjs'

runSources(new URL('../tests/newcomers/main.ts', import.meta.url))
