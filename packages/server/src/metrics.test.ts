import { createMetrics } from './metrics.ts'

test('a histogram that an app counts itself is exported in the format of Prometheus', async () => {
  const metrics = createMetrics()
  const counted = { bounds: [0.5, 1], counts: [2, 0, 3], sum: 7.5 }
  metrics.histogram('app_seconds', 'How long', ['carrier'], () => [{ labels: { carrier: 'a' }, ...counted }])
  expect(await metrics.registry.getSingleMetricAsString('app_seconds')).toBe(
    [
      '# HELP app_seconds How long',
      '# TYPE app_seconds histogram',
      'app_seconds_bucket{le="0.5",carrier="a"} 2',
      'app_seconds_bucket{le="1",carrier="a"} 2',
      'app_seconds_bucket{le="+Inf",carrier="a"} 5',
      'app_seconds_sum{carrier="a"} 7.5',
      'app_seconds_count{carrier="a"} 5',
    ].join('\n'),
  )
})
