/**
 * Times how long a newcomer waits: from the first command of the README to a message that a browser shows as delivered,
 * by a clone, by the package and by the image, each with an empty home, so that nothing comes from an earlier
 * installation. Of a built checkout; Chromium, the packed files and the base image are made before and not counted.
 * The image needs root and what deploy/image/build.sh names; IMAGES is the folder of its base image.
 *
 *   npx pnpm build && node deploy/newcomers.mjs [clone] [npx] [image]
 */
import { runSources } from '../scripts/run-sources.mjs'

runSources(new URL('../tests/newcomers/main.ts', import.meta.url))
