import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.Base64;
import java.util.regex.*;

class Match {
    static String decoded(String text) {
        return new String(Base64.getDecoder().decode(text), StandardCharsets.UTF_8);
    }

    public static void main(String[] args) throws Exception {
        for (String line : Files.readAllLines(Path.of(args[0]))) {
            String[] parts = line.split(" ", -1);
            String sample = decoded(parts[3]);
            int length = sample.codePointCount(0, sample.length());
            try {
                boolean matches = Pattern.compile(decoded(parts[2])).matcher(sample).find();
                boolean fits = Integer.parseInt(parts[0]) <= length && length <= Integer.parseInt(parts[1]);
                System.out.println(matches && fits ? "1" : "0");
            } catch (PatternSyntaxException error) {
                System.out.println("!");
            }
        }
    }
}
