// What obeys lines on its standard input; see tests/interop/README.md.

import java.io.BufferedReader;
import java.io.InputStreamReader;

public abstract class Program {
    abstract String obey(String[] words) throws Exception;

    // Until "quit". What the library has started beside does not keep the program alive.
    void run() throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null && !line.equals("quit");
             line = lines.readLine()) {
            String answer;
            try {
                answer = obey(line.split(" "));
            } catch (Exception failed) {
                answer = "error " + failed;
            }
            System.out.println(answer);
            System.out.flush();
        }
        System.exit(0);
    }
}
