<?php
foreach (file($argv[1], FILE_IGNORE_NEW_LINES) as $line) {
    [$least, $most, $pattern, $sample] = explode(' ', $line);
    $sample = base64_decode($sample);
    $matches = @preg_match("\x01" . base64_decode($pattern) . "\x01u", $sample);
    $length = preg_match_all('/./us', $sample);
    echo $matches === false ? '!' : ($matches && $least <= $length && $length <= $most ? '1' : '0'), "\n";
}
